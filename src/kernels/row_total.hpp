// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/numerics/chunk.hpp>

#include "kernels/chunk_kernel.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// Threads per row on a device, for work over the chunks of a row.
inline constexpr int row_team = 64;

/// Chunk `chunk` of row `row` as it was measured.
template <class Space>
KOKKOS_FORCEINLINE_FUNCTION ChunkPair chunk_pair(const RowMeasures<Space>& measures,
                                                 std::int64_t row, std::int64_t chunk) {
  return {measures.chunk_maximum(row, chunk), measures.chunk_sum(row, chunk)};
}

/// Merges the pairs of a row; `status` receives the row's bits. Every member gets the result.
template <class Team, class Space>
KOKKOS_FUNCTION RowTotal merge_row(const Team& team, const RowMeasures<Space>& measures,
                                   std::int64_t row, std::int64_t chunks,
                                   RowTemperature temperature, std::int32_t& status) {
  float maximum = negative_infinity;
  std::int32_t bits = 0;
  for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
    const ChunkPair pair = chunk_pair(measures, row, c);
    if (pair.sum < 0) bits |= static_cast<std::int32_t>(-pair.sum);
    maximum = pair.maximum > maximum ? pair.maximum : maximum;
  }
  team.team_reduce(Kokkos::Max<float>(maximum));
  team.team_reduce(Kokkos::BOr<std::int32_t>(bits));
  if (bits == 0 && maximum == negative_infinity) bits |= RowStatus::empty;
  if (!temperature.legal) bits |= RowStatus::invalid_parameter;
  status = bits;
  if (bits != 0) return {};
  std::int64_t mass = 0;
  for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
    mass += ChunkShare::of(chunk_pair(measures, row, c), maximum, temperature.inverse).mass;
  }
  team.team_reduce(Kokkos::Sum<std::int64_t>(mass));
  return {maximum, mass};
}

/// f_c: what the weights of a chunk are multiplied by to become probabilities.
KOKKOS_FORCEINLINE_FUNCTION float chunk_factor(const ChunkPair& pair, const RowTotal& total,
                                               InverseTemperature inverse) {
  return ChunkShare::of(pair, total.maximum, inverse).factor / from_grid(total.mass);
}

/// A weight as probability; below FLT_MIN exactly 0.
KOKKOS_FORCEINLINE_FUNCTION float probability(float weight, float factor) {
  const float p = weight * factor;
  return p >= FLT_MIN ? p : 0.0f;
}

/// Writes the total of each row from its pairs.
template <class ExecutionSpace, LogitType Logit>
struct SumRows {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Vector<std::int32_t, Space> row_status;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    std::int32_t status = 0;
    const RowTotal total = merge_row(team, measures, row, chunk_count(rows.active()),
                                     RowTemperature::of(rows, row), status);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      measures.row_maximum(row) = total.maximum;
      measures.row_mass(row) = total.mass;
      if (row_status.data() != nullptr) row_status(row) |= status;
    });
  }
};

}  // namespace tokkos
