// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/normalize.hpp>

#include "kernels/check_views.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"
#include "kernels/normalize_chunk.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct NormalizeChunks {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Matrix<float, Space> probabilities;
  std::int64_t chunks;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank() / chunks;
    const std::int64_t chunk = team.league_rank() % chunks;
    normalize_chunk<ExecutionSpace>(team, rows, measures, row, chunk,
                                    &probabilities(row, chunk * chunk_size));
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void normalize(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
               const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
               const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities) {
  check_rows(rows);
  check_measures(measures, rows.rows(), rows.vocabulary());
  check_matrix("probabilities", probabilities, rows.rows(), rows.vocabulary());
  check_overlap(rows, probabilities);
  check_apart(std::array{NamedRange::of("probabilities", probabilities)},
              {ranges_beside_logits(rows), ranges_of(measures)});
  const std::int64_t chunks = chunk_count(rows.vocabulary());
  launch_teams("tokkos::normalize::chunks", space, rows.rows() * chunks, chunk_team, chunk_scratch,
               NormalizeChunks<ExecutionSpace, Logit>{rows, measures, probabilities, chunks});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                        \
  template void normalize<Space, Logit>(const Space&, const LogitRows<Logit, MemoryOf<Space>>&, \
                                        const RowMeasures<MemoryOf<Space>>&,                    \
                                        const Matrix<float, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
