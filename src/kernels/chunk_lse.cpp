// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/chunk_lse.hpp>
#include <tokkos/numerics/portable_log.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct ChunkLse {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  Matrix<float, Space> chunked_sum;
  Matrix<float, Space> chunked_max;
  Vector<std::int32_t, Space> row_status;
  std::int64_t chunks;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank() / chunks;
    const std::int64_t chunk = team.league_rank() % chunks;
    const RowTemperature temperature = RowTemperature::of(rows, row);
    const InverseTemperature inverse = temperature.inverse;
    float* x = chunk_buffer(team);
    ChunkSource<Logit> source;
    ChunkPair pair{negative_infinity, -std::int64_t{RowStatus::invalid_parameter}};
    if (temperature.legal && find_chunk(rows, row, chunk, source)) {
      pair = measure_chunk<ExecutionSpace>(team, source, inverse, x, x);
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      if (pair.sum < 0) {
        flag_row(row_status, row, static_cast<std::int32_t>(-pair.sum));
        chunked_max(row, chunk) = masked_logit;
        chunked_sum(row, chunk) = __builtin_nanf("");
      } else if (pair.sum == 0) {
        chunked_max(row, chunk) = masked_logit;
        chunked_sum(row, chunk) = inverse.greedy ? 0.0f : negative_infinity;
      } else if (inverse.greedy) {
        chunked_max(row, chunk) = pair.maximum;
        chunked_sum(row, chunk) = from_grid(pair.sum);
      } else {
        const float scaled = pair.maximum * inverse.value;
        chunked_max(row, chunk) =
            scaled > FLT_MAX ? FLT_MAX : (scaled < -FLT_MAX ? -FLT_MAX : scaled);
        chunked_sum(row, chunk) = portable_log_of_grid(pair.sum);
      }
    });
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void chunk_lse(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
               const Matrix<float, MemoryOf<ExecutionSpace>>& chunked_sum,
               const Matrix<float, MemoryOf<ExecutionSpace>>& chunked_max,
               const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  check_rows(rows);
  const std::int64_t chunks = chunk_count(rows.vocabulary());
  check_matrix("chunked_sum", chunked_sum, rows.rows(), chunks);
  check_matrix("chunked_max", chunked_max, rows.rows(), chunks);
  check_optional_vector("row_status", row_status, rows.rows());
  check_apart(std::array{NamedRange::of("chunked_sum", chunked_sum),
                         NamedRange::of("chunked_max", chunked_max),
                         NamedRange::of("row_status", row_status)},
              {ranges_of(rows)});
  launch_teams("tokkos::chunk_lse::chunks", space, rows.rows() * chunks, chunk_team, chunk_scratch,
               ChunkLse<ExecutionSpace, Logit>{rows, chunked_sum, chunked_max, row_status, chunks});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                        \
  template void chunk_lse<Space, Logit>(const Space&, const LogitRows<Logit, MemoryOf<Space>>&, \
                                        const Matrix<float, MemoryOf<Space>>&,                  \
                                        const Matrix<float, MemoryOf<Space>>&,                  \
                                        const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
