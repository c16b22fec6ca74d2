// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/measure.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"
#include "kernels/row_total.hpp"

#include <array>

namespace tokkos {

namespace {

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

/// One team per row, on a host.
template <class ExecutionSpace, LogitType Logit>
struct MeasureRows {
  SumRows<ExecutionSpace, Logit> sum;
  std::int64_t chunks;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    float* x = chunk_buffer(team);
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const ChunkPair pair = measure_place<ExecutionSpace>(team, sum.rows, row, chunk, x);
      sum.measures.chunk_maximum(row, chunk) = pair.maximum;
      sum.measures.chunk_sum(row, chunk) = pair.sum;
    }
    sum(team);
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void measure(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
             const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
             const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  check_rows(rows);
  check_measures(measures, rows.rows(), rows.vocabulary());
  check_optional_vector("row_status", row_status, rows.rows());
  check_apart(joined(ranges_of(measures), std::array{NamedRange::of("row_status", row_status)}),
              {ranges_of(rows)});
  const std::int64_t n = rows.rows();
  const std::int64_t chunks = chunk_count(rows.active());
  const SumRows<ExecutionSpace, Logit> sum{rows, measures, row_status};
  if constexpr (runs_on_host<ExecutionSpace>) {
    if (takes_whole_rows(n, chunks, space.concurrency())) {
      launch_teams("tokkos::measure::whole_rows", space, n, 1, chunk_scratch,
                   MeasureRows<ExecutionSpace, Logit>{sum, chunks});
      return;
    }
  }
  launch_teams("tokkos::measure::chunks", space, n * chunks, chunk_team, chunk_scratch,
               MeasureChunks<ExecutionSpace, Logit>{rows, measures, chunks});
  launch_teams("tokkos::measure::rows", space, n, row_team, 0, sum);
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                      \
  template void measure<Space, Logit>(const Space&, const LogitRows<Logit, MemoryOf<Space>>&, \
                                      const RowMeasures<MemoryOf<Space>>&,                    \
                                      const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
