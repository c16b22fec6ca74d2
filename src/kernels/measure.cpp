// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/measure.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/row_total.hpp"

namespace tokkos {

namespace {

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
    float* x = chunk_buffer(team);
    ChunkSource<Logit> source;
    ChunkPair pair{negative_infinity, -std::int64_t{RowStatus::invalid_parameter}};
    if (find_chunk(rows, row, chunk, source)) {
      const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
      pair = measure_chunk<ExecutionSpace>(team, source, inverse, x, x);
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      measures.chunk_maximum(row, chunk) = pair.maximum;
      measures.chunk_sum(row, chunk) = pair.sum;
    });
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
  const std::int64_t chunks = chunk_count(rows.active());
  launch_teams("tokkos::measure::chunks", space, rows.rows() * chunks, chunk_team, chunk_scratch,
               MeasureChunks<ExecutionSpace, Logit>{rows, measures, chunks});
  launch_teams("tokkos::measure::rows", space, rows.rows(), row_team, 0,
               SumRows<ExecutionSpace, Logit>{rows, measures, row_status});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                      \
  template void measure<Space, Logit>(const Space&, const LogitRows<Logit, MemoryOf<Space>>&, \
                                      const RowMeasures<MemoryOf<Space>>&,                    \
                                      const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
