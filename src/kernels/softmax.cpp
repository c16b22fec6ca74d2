// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/row_total.hpp"
#include "kernels/scale_chunk.hpp"

namespace tokkos {

namespace {

// On a host the exponential is dear and the row is in cache: the weights are kept in the output
// while a row is measured, and scaled afterwards. On a device memory is dear: `normalize` computes
// them again.

/// Measures one chunk and leaves its weights in the output.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION ChunkPair weigh_into(const Team& team, const LogitRows<Logit, Space>& rows,
                                     std::int64_t row, std::int64_t chunk, float* x, float* out) {
  ChunkSource<Logit> source;
  if (!find_chunk(rows, row, chunk, source)) {
    return {negative_infinity, -std::int64_t{RowStatus::invalid_parameter}};
  }
  const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
  float* e = source.size == chunk_size ? out : x;
  const ChunkPair pair = measure_chunk<ExecutionSpace>(team, source, inverse, x, e);
  if (e == x && pair.sum > 0) {
    for (int j = 0; j < source.size; ++j) out[j] = x[j];
  }
  return pair;
}

template <class ExecutionSpace, LogitType Logit>
struct Softmax {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Matrix<float, Space> probabilities;
  Vector<std::int32_t, Space> row_status;

  KOKKOS_FUNCTION void weigh(const Team& team, std::int64_t row, std::int64_t chunk,
                             float* x) const {
    float* out = &probabilities(row, chunk * chunk_size);
    const ChunkPair pair = weigh_into<ExecutionSpace>(team, rows, row, chunk, x, out);
    measures.chunk_maximum(row, chunk) = pair.maximum;
    measures.chunk_sum(row, chunk) = pair.sum;
  }

  KOKKOS_FUNCTION void scale(const Team& team, std::int64_t row, std::int64_t chunk,
                             const RowTotal& total, InverseTemperature inverse) const {
    const ChunkRoom room = chunk_room(rows, chunk);
    float factor = 0.0f;
    if (total.mass > 0 && room.active > 0) {
      factor = chunk_factor(chunk_pair(measures, row, chunk), total, inverse);
    }
    float* out = &probabilities(row, chunk * chunk_size);
    scale_chunk<ExecutionSpace>(team, out, out, factor, room);
  }
};

/// One team per row: the row stays in its core's cache between weighing and scaling.
template <class ExecutionSpace, LogitType Logit>
struct SoftmaxByRow : Softmax<ExecutionSpace, Logit> {
  KOKKOS_FUNCTION void operator()(const typename Softmax<ExecutionSpace, Logit>::Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const std::int64_t chunks = chunk_count(this->rows.active());
    float* x = chunk_buffer(team);
    for (std::int64_t c = 0; c < chunks; ++c) this->weigh(team, row, c, x);
    const RowTemperature temperature = RowTemperature::of(this->rows, row);
    std::int32_t status = 0;
    const RowTotal total = merge_row(team, this->measures, row, chunks, temperature, status);
    this->measures.row_maximum(row) = total.maximum;
    this->measures.row_mass(row) = total.mass;
    if (this->row_status.data() != nullptr) this->row_status(row) |= status;
    const std::int64_t places = chunk_count(this->rows.vocabulary());
    for (std::int64_t c = 0; c < places; ++c) {
      this->scale(team, row, c, total, temperature.inverse);
    }
  }
};

/// One team per chunk, for batches that would not keep every thread busy by rows.
template <class ExecutionSpace, LogitType Logit>
struct WeighChunks : Softmax<ExecutionSpace, Logit> {
  std::int64_t chunks;
  KOKKOS_FUNCTION void operator()(const typename Softmax<ExecutionSpace, Logit>::Team& team) const {
    const IeeeArithmetic ieee;
    this->weigh(team, team.league_rank() / chunks, team.league_rank() % chunks, chunk_buffer(team));
  }
};

template <class ExecutionSpace, LogitType Logit>
struct ScaleChunks : Softmax<ExecutionSpace, Logit> {
  std::int64_t chunks;
  KOKKOS_FUNCTION void operator()(const typename Softmax<ExecutionSpace, Logit>::Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank() / chunks;
    const RowTotal total{this->measures.row_maximum(row), this->measures.row_mass(row)};
    this->scale(team, row, team.league_rank() % chunks, total,
                RowTemperature::of(this->rows, row).inverse);
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void softmax(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
             const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
             const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities,
             const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  check_rows(rows);
  check_measures(measures, rows.rows(), rows.vocabulary());
  check_matrix("probabilities", probabilities, rows.rows(), rows.vocabulary());
  check_overlap(rows, probabilities);
  check_optional_vector("row_status", row_status, rows.rows());
  if constexpr (runs_on_host<ExecutionSpace>) {
    const Softmax<ExecutionSpace, Logit> softmax{rows, measures, probabilities, row_status};
    const std::int64_t n = rows.rows();
    if (takes_whole_rows(n, space.concurrency())) {
      launch_teams("tokkos::softmax::rows", space, n, 1, chunk_scratch,
                   SoftmaxByRow<ExecutionSpace, Logit>{softmax});
      return;
    }
    const std::int64_t chunks = chunk_count(rows.active());
    const std::int64_t places = chunk_count(rows.vocabulary());
    launch_teams("tokkos::softmax::weigh", space, n * chunks, 1, chunk_scratch,
                 WeighChunks<ExecutionSpace, Logit>{softmax, chunks});
    launch_teams("tokkos::softmax::sum", space, n, 1, 0,
                 SumRows<ExecutionSpace, Logit>{rows, measures, row_status});
    launch_teams("tokkos::softmax::scale", space, n * places, 1, 0,
                 ScaleChunks<ExecutionSpace, Logit>{softmax, places});
  } else {
    measure(space, rows, measures, row_status);
    normalize(space, rows, measures, probabilities);
  }
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void softmax<Space, Logit>(                                                             \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const Matrix<float, MemoryOf<Space>>&, const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
