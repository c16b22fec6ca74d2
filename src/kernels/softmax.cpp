// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"
#include "kernels/row_total.hpp"
#include "kernels/scale_chunk.hpp"
#include "numerics/streaming_store.hpp"

#include <array>

namespace tokkos {

namespace {

// On a host the exponential is dear: the weights of a row are kept in cache while it is measured,
// and scaled afterwards. On a device memory is dear: `normalize` computes them again.

/// Where a thread that takes whole rows keeps the weights of a row.
enum class Kept {
  in_output,  ///< few rows: the output stays in cache
  in_place,   ///< in the team's scratch, from where they go over the logits
  streamed    ///< in the team's scratch, from where they go past the caches
};

/// Bytes of output from which on a row is not in a core's cache when it is scaled or used.
constexpr std::size_t large_output = std::size_t{16} << 20;

template <LogitType Logit, class Space>
Kept kept_weights(const LogitRows<Logit, Space>& rows, const Matrix<float, Space>& probabilities) {
  if (probabilities.size() * sizeof(float) < large_output) return Kept::in_output;
  const void* logits = rows.logits.data();
  return probabilities.data() == logits ? Kept::in_place : Kept::streamed;
}

template <class ExecutionSpace, LogitType Logit>
struct Softmax {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Matrix<float, Space> probabilities;
  Vector<std::int32_t, Space> row_status;

  KOKKOS_FUNCTION float* output(std::int64_t row, std::int64_t chunk) const {
    return &probabilities(row, chunk * chunk_size);
  }

  /// Measures one chunk and leaves its weights in e; x is room for a chunk, and may be e.
  KOKKOS_FUNCTION void weigh(const Team& team, std::int64_t row, std::int64_t chunk, float* x,
                             float* e) const {
    ChunkSource<Logit> source;
    ChunkPair pair{negative_infinity, -std::int64_t{RowStatus::invalid_parameter}};
    if (find_chunk(rows, row, chunk, source)) {
      const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
      pair = measure_chunk<ExecutionSpace>(team, source, inverse, x, e);
    }
    measures.chunk_maximum(row, chunk) = pair.maximum;
    measures.chunk_sum(row, chunk) = pair.sum;
  }

  /// The same with the weights in the output, which has no room for all of the row's last chunk.
  KOKKOS_FUNCTION void weigh_into_output(const Team& team, std::int64_t row, std::int64_t chunk,
                                         float* x) const {
    float* out = output(row, chunk);
    const int tokens = chunk_room(rows, chunk).active;
    weigh(team, row, chunk, x, tokens == chunk_size ? out : x);
    if (tokens == chunk_size || measures.chunk_sum(row, chunk) <= 0) return;
    for (int j = 0; j < tokens; ++j) out[j] = x[j];
  }

  /// What the weights of a chunk are multiplied by; 0 if the row or the chunk has none.
  KOKKOS_FUNCTION float factor(std::int64_t row, std::int64_t chunk, const RowTotal& total,
                               InverseTemperature inverse) const {
    if (total.mass <= 0 || chunk_room(rows, chunk).active <= 0) return 0.0f;
    return chunk_factor(chunk_pair(measures, row, chunk), total, inverse);
  }
};

/// One team per row: its weights stay in its core's cache until they are scaled.
template <class ExecutionSpace, LogitType Logit>
struct SoftmaxByRow : Softmax<ExecutionSpace, Logit> {
  using Team = typename Softmax<ExecutionSpace, Logit>::Team;
  Kept kept;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const std::int64_t chunks = chunk_count(this->rows.active());
    const std::int64_t places = chunk_count(this->rows.vocabulary());
    float* x = chunk_buffer(team, kept == Kept::in_output ? 1 : chunks);
    for (std::int64_t c = 0; c < chunks; ++c) {
      if (kept == Kept::in_output) {
        this->weigh_into_output(team, row, c, x);
      } else {
        this->weigh(team, row, c, x + c * chunk_size, x + c * chunk_size);
      }
    }
    const RowTemperature temperature = RowTemperature::of(this->rows, row);
    std::int32_t status = 0;
    const RowTotal total = merge_row(team, this->measures, row, chunks, temperature, status);
    this->measures.row_maximum(row) = total.maximum;
    this->measures.row_mass(row) = total.mass;
    if (this->row_status.data() != nullptr) this->row_status(row) |= status;
    for (std::int64_t c = 0; c < places; ++c) {
      const ChunkRoom room = chunk_room(this->rows, c);
      const float factor = this->factor(row, c, total, temperature.inverse);
      float* out = this->output(row, c);
      const float* e = kept == Kept::in_output ? out : x + (c < chunks ? c * chunk_size : 0);
      if (kept == Kept::streamed) {
        stream_chunk(e, out, factor, room);
      } else {
        scale_chunk<ExecutionSpace>(team, e, out, factor, room);
      }
    }
    if (kept == Kept::streamed) finish_streaming();
  }
};

/// One team per chunk, for batches that would not keep every thread busy by rows.
template <class ExecutionSpace, LogitType Logit>
struct WeighChunks : Softmax<ExecutionSpace, Logit> {
  std::int64_t chunks;
  KOKKOS_FUNCTION void operator()(const typename Softmax<ExecutionSpace, Logit>::Team& team) const {
    const IeeeArithmetic ieee;
    this->weigh_into_output(team, team.league_rank() / chunks, team.league_rank() % chunks,
                            chunk_buffer(team));
  }
};

template <class ExecutionSpace, LogitType Logit>
struct ScaleChunks : Softmax<ExecutionSpace, Logit> {
  std::int64_t chunks;
  KOKKOS_FUNCTION void operator()(const typename Softmax<ExecutionSpace, Logit>::Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank() / chunks;
    const RowTotal total{this->measures.row_maximum(row), this->measures.row_mass(row)};
    const std::int64_t chunk = team.league_rank() % chunks;
    const InverseTemperature inverse = RowTemperature::of(this->rows, row).inverse;
    float* out = this->output(row, chunk);
    scale_chunk<ExecutionSpace>(team, out, out, this->factor(row, chunk, total, inverse),
                                chunk_room(this->rows, chunk));
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
  const std::array written{NamedRange::of("probabilities", probabilities)};
  check_apart(written, {ranges_beside_logits(rows)});
  check_apart(joined(ranges_of(measures), std::array{NamedRange::of("row_status", row_status)}),
              {ranges_of(rows), written});
  if constexpr (runs_on_host<ExecutionSpace>) {
    const Softmax<ExecutionSpace, Logit> softmax{rows, measures, probabilities, row_status};
    const std::int64_t n = rows.rows();
    const std::int64_t chunks = chunk_count(rows.active());
    const std::int64_t places = chunk_count(rows.vocabulary());
    if (takes_whole_rows(n, chunks, space.concurrency())) {
      const Kept kept = kept_weights(rows, probabilities);
      launch_teams("tokkos::softmax::rows", space, n, 1,
                   scratch_of_chunks(kept == Kept::in_output ? 1 : chunks),
                   SoftmaxByRow<ExecutionSpace, Logit>{softmax, kept});
      return;
    }
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
