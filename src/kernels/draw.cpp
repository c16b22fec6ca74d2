// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/draw.hpp>
#include <tokkos/numerics/wide_product.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/find_maximum.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/prefix_search.hpp"
#include "kernels/row_total.hpp"

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct DrawTokens {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Vector<const float, Space> uniforms;
  Vector<TokenId, Space> tokens;
  Vector<std::int32_t, Space> row_status;
  GreedyTies ties;

  /// The token at mass `target` of the row, walking chunks and then the tokens of one chunk by id.
  KOKKOS_FUNCTION TokenId token_at(const Team& team, std::int64_t row, std::int64_t target,
                                   const RowTotal& total, InverseTemperature inverse) const {
    const auto share = [&](std::int64_t c) {
      return ChunkShare::of(chunk_pair(measures, row, c), total.maximum, inverse).mass;
    };
    const Crossing chunk = first_crossing(team, chunk_count(rows.active()), share,
                                          [&](std::int64_t prefix) { return prefix > target; });
    ChunkSource<Logit> source;
    if (chunk.index < 0 || !find_chunk(rows, row, chunk.index, source)) return -1;

    float* e = chunk_buffer(team);
    std::int32_t status = 0;
    load_chunk<ExecutionSpace>(team, source, e, status);
    weigh_chunk<ExecutionSpace>(team, e, e, measures.chunk_maximum(row, chunk.index), inverse);
    std::int64_t sum = 0;
    for (int j = team.team_rank(); j < source.size; j += team.team_size()) sum += to_grid(e[j]);
    team.team_reduce(Kokkos::Sum<std::int64_t>(sum));

    // First inclusive prefix A with A * w_c > (t - b) * s_c: no division, no rounding.
    const auto w = static_cast<std::uint64_t>(share(chunk.index));
    const WideProduct wanted(static_cast<std::uint64_t>(target - chunk.before),
                             static_cast<std::uint64_t>(sum));
    const Crossing token = first_crossing(
        team, source.size, [&](std::int64_t j) { return to_grid(e[j]); },
        [&](std::int64_t prefix) {
          return WideProduct(static_cast<std::uint64_t>(prefix), w) > wanted;
        });
    if (token.index < 0) return -1;  // the logits are no longer those that were measured
    return static_cast<TokenId>(chunk.index * chunk_size + token.index);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const RowTotal total{measures.row_maximum(row), measures.row_mass(row)};
    const float u = clamped_uniform(uniforms(row));
    TokenId token = -1;
    if (u != u) {
      team.team_barrier();  // every member has read the row's total
      Kokkos::single(Kokkos::PerTeam(team), [&]() {
        flag_row(row_status, row, RowStatus::invalid_parameter);
        measures.row_maximum(row) = negative_infinity;  // nothing else is made of the row
        measures.row_mass(row) = 0;
      });
    } else if (total.mass > 0) {
      const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
      if (inverse.greedy && ties == GreedyTies::lowest_id) {
        token = lowest_maximum<ExecutionSpace>(team, rows, measures, row, total.maximum);
      } else {
        token = token_at(team, row, floor_of_share(u, total.mass), total, inverse);
      }
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() { tokens(row) = token; });
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void draw(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
          const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
          const Vector<const float, MemoryOf<ExecutionSpace>>& uniforms,
          const Vector<TokenId, MemoryOf<ExecutionSpace>>& tokens,
          const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status, GreedyTies ties) {
  check_rows(rows);
  check_measures(measures, rows.rows(), rows.vocabulary());
  check_vector("uniforms", uniforms, rows.rows());
  check_vector("tokens", tokens, rows.rows());
  check_optional_vector("row_status", row_status, rows.rows());
  launch_teams(
      "tokkos::draw::rows", space, rows.rows(), chunk_team, chunk_scratch,
      DrawTokens<ExecutionSpace, Logit>{rows, measures, uniforms, tokens, row_status, ties});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void draw<Space, Logit>(                                                                \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const Vector<const float, MemoryOf<Space>>&, const Vector<TokenId, MemoryOf<Space>>&,        \
      const Vector<std::int32_t, MemoryOf<Space>>&, GreedyTies);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
