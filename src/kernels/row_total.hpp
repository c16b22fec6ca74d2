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
  PairMerge merge;
  for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
    merge.find(chunk_pair(measures, row, c));
  }
  team.team_reduce(Kokkos::Max<float>(merge.total.maximum));
  team.team_reduce(Kokkos::BOr<std::int32_t>(merge.status));
  status = merge.row_status() | (temperature.legal ? 0 : RowStatus::invalid_parameter);
  if (status != 0) return {};
  for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
    merge.add(chunk_pair(measures, row, c), temperature.inverse);
  }
  team.team_reduce(Kokkos::Sum<std::int64_t>(merge.total.mass));
  return merge.total;
}

/// f_c: what the weights of a chunk are multiplied by to become probabilities.
KOKKOS_FORCEINLINE_FUNCTION float chunk_factor(const ChunkPair& pair, const RowTotal& total,
                                               InverseTemperature inverse) {
  return ChunkShare::of(pair, total.maximum, inverse).factor / from_grid(total.mass);
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
