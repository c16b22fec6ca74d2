// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/chunk_kernel.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// Measures one chunk of one row; x is the team's scratch.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION ChunkPair measure_place(const Team& team, const LogitRows<Logit, Space>& rows,
                                        std::int64_t row, std::int64_t chunk, float* x) {
  ChunkSource<Logit> source;
  if (!find_chunk(rows, row, chunk, source)) {
    return {negative_infinity, -std::int64_t{RowStatus::invalid_parameter}};
  }
  const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
  return measure_chunk<ExecutionSpace>(team, source, inverse, x, x);
}

/// One team per chunk: on a device, and for batches that would not keep every thread busy by rows.
template <class ExecutionSpace, LogitType Logit>
struct MeasureChunks {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  std::int64_t chunks;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank() / chunks;
    const std::int64_t chunk = team.league_rank() % chunks;
    const ChunkPair pair =
        measure_place<ExecutionSpace>(team, rows, row, chunk, chunk_buffer(team));
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      measures.chunk_maximum(row, chunk) = pair.maximum;
      measures.chunk_sum(row, chunk) = pair.sum;
    });
  }
};

}  // namespace tokkos
