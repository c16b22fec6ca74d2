// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/kernels/draw.hpp>
#include <tokkos/numerics/wide_product.hpp>

#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/find_maximum.hpp"
#include "kernels/prefix_search.hpp"
#include "kernels/row_total.hpp"
#include "numerics/wrapping_sum.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

// A plain draw: over the masses of chunks, then over the tokens of one chunk.

namespace tokkos {

/// Where a draw ends up: mass `rest` behind the beginning of chunk `chunk`, whose mass is `mass`.
struct DrawPlace {
  std::int64_t chunk = -1;  ///< -1: nowhere
  std::int64_t rest = 0;
  std::int64_t mass = 0;
};

/// The chunk at mass `target` of the row. Every member gets it.
template <class Team, class Space>
KOKKOS_FUNCTION DrawPlace place_at(const Team& team, const RowMeasures<Space>& measures,
                                   std::int64_t row, std::int64_t chunks, std::int64_t target,
                                   float maximum, InverseTemperature inverse) {
  const auto share = [&](std::int64_t c) {
    return ChunkShare::of(chunk_pair(measures, row, c), maximum, inverse).mass;
  };
  const Crossing chunk =
      first_crossing(team, chunks, share, [&](std::int64_t prefix) { return prefix > target; });
  if (chunk.index < 0) return {};
  return {chunk.index, target - chunk.before, share(chunk.index)};
}

/// How a draw ends within a chunk: at the first inclusive prefix A of its tokens' masses, `sum` in
/// all, with A * w_c > (t - b) * s_c: no division, no rounding.
class WeightedDraw {
 public:
  KOKKOS_FUNCTION WeightedDraw(const DrawPlace& place, std::int64_t sum)
      : m_mass(static_cast<std::uint64_t>(place.mass)),
        m_wanted(static_cast<std::uint64_t>(place.rest), static_cast<std::uint64_t>(sum)) {}

  KOKKOS_FUNCTION bool is_reached(std::int64_t prefix) const {
    return WideProduct(static_cast<std::uint64_t>(prefix), m_mass) > m_wanted;
  }

 private:
  std::uint64_t m_mass;
  WideProduct m_wanted;
};

/// The token at a place, by its number in the chunk; -1 if the logits are no longer those that were
/// measured. e is the team's scratch.
template <class ExecutionSpace, LogitType Logit, class Team>
KOKKOS_FUNCTION std::int64_t token_in_chunk(const Team& team, const ChunkSource<Logit>& source,
                                            const DrawPlace& place, float chunk_maximum,
                                            InverseTemperature inverse, float* e) {
  std::int32_t status = 0;
  load_chunk<ExecutionSpace>(team, source, e, status);
  weigh_chunk<ExecutionSpace>(team, source, e, e, chunk_maximum, inverse);
  std::int64_t sum = 0;
  for (int j = team.team_rank(); j < source.size; j += team.team_size()) {
    sum = wrapping_sum(sum, to_grid(e[j]));
  }
  team.team_reduce(Kokkos::Sum<std::int64_t>(sum));
  const WeightedDraw draw(place, sum);
  const Crossing token = first_crossing(
      team, source.size, [&](std::int64_t j) { return to_grid(e[j]); },
      [&](std::int64_t prefix) { return draw.is_reached(prefix); });
  return token.index;
}

/// The token at mass `target` of the row, walking chunks and then the tokens of one chunk by id. e
/// is the team's scratch.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION TokenId token_at(const Team& team, const LogitRows<Logit, Space>& rows,
                                 const RowMeasures<Space>& measures, std::int64_t row,
                                 std::int64_t target, const RowTotal& total,
                                 InverseTemperature inverse, float* e) {
  const DrawPlace place =
      place_at(team, measures, row, chunk_count(rows.active()), target, total.maximum, inverse);
  ChunkSource<Logit> source;
  if (place.chunk < 0 || !find_chunk(rows, row, place.chunk, source)) return -1;
  source.next = 0;  // no other chunk is read
  const std::int64_t token = token_in_chunk<ExecutionSpace>(
      team, source, place, measures.chunk_maximum(row, place.chunk), inverse, e);
  return token < 0 ? -1 : static_cast<TokenId>(place.chunk * chunk_size + token);
}

/// The token that the uniform u (a number in [0, 1)) draws from a measured row; -1 if it is
/// unusable. Every member gets it; e is the team's scratch.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION TokenId drawn_token(const Team& team, const LogitRows<Logit, Space>& rows,
                                    const RowMeasures<Space>& measures, std::int64_t row, float u,
                                    GreedyTies ties, float* e) {
  const RowTotal total{measures.row_maximum(row), measures.row_mass(row)};
  if (total.mass <= 0) return -1;
  const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
  if (inverse.greedy && ties == GreedyTies::lowest_id) {
    return lowest_maximum<ExecutionSpace>(team, rows, measures, row, total.maximum, e);
  }
  return token_at<ExecutionSpace>(team, rows, measures, row, floor_of_share(u, total.mass), total,
                                  inverse, e);
}

/// By one member: flags a row without a token although it was measured, as its logits are no longer
/// those that were.
template <class Space>
KOKKOS_FORCEINLINE_FUNCTION void flag_unmeasured(const RowMeasures<Space>& measures,
                                                 std::int64_t row,
                                                 const Vector<std::int32_t, Space>& row_status) {
  if (measures.row_mass(row) > 0) flag_row(row_status, row, RowStatus::empty);
}

/// A row with a NaN among its uniforms: flags it, and nothing else is made of its measures.
template <class Team, class Space>
KOKKOS_FUNCTION void end_row(const Team& team, const RowMeasures<Space>& measures, std::int64_t row,
                             const Vector<std::int32_t, Space>& row_status) {
  Kokkos::single(Kokkos::PerTeam(team), [&]() {
    flag_row(row_status, row, RowStatus::invalid_parameter);
    measures.row_maximum(row) = negative_infinity;
    measures.row_mass(row) = 0;
  });
}

}  // namespace tokkos
