// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/measure.hpp>

#include "kernels/check_views.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/measure_chunks.hpp"
#include "kernels/named_range.hpp"
#include "kernels/row_total.hpp"

#include <array>

namespace tokkos {

namespace {

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
