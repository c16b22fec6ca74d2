// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/portable_tanh.hpp>

#include "kernels/edit_groups.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/measure_chunks.hpp"
#include "kernels/row_total.hpp"
#include "lm_head/block_steps.hpp"

namespace tokkos {

namespace {

/// Logits that a thread of a host scales at a time.
constexpr std::int64_t run_length = 1024;

template <class Space>
struct FinishLogits {
  static constexpr std::int64_t entries_per_block = 1;
  LogitWindow<Space> window;
  float scale;
  float cap;  ///< 0: none
  std::int64_t width;
  std::int64_t runs;  ///< of a row

  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    const std::int64_t row = entry / runs;
    if (window.starts.data() != nullptr && !window.has_piece(row)) return;
    const std::int64_t begin = entry % runs * length();
    const std::int64_t end = Kokkos::min(begin + length(), width);
    float* x = window.logits.data() + row * static_cast<std::int64_t>(window.logits.stride(0));
    for (std::int64_t j = begin; j < end; ++j) x[j] *= scale;
    if (cap == 0.0f) return;
    for (std::int64_t j = begin; j < end; ++j) x[j] = cap * portable_tanh(x[j] / cap);
  }

  KOKKOS_FUNCTION std::int64_t length() const { return (width + runs - 1) / runs; }
};

/// Measures a chunk, and its pieces. Teams take the block chunk by chunk, as its product was made,
/// not row by row: on a host a thread then reads what it has just written.
template <class ExecutionSpace>
struct MeasurePieces {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<float, Space> rows;
  RowMeasures<Space> measures;
  PieceMasses<Space> pieces;
  std::int64_t first_chunk;

  KOKKOS_FUNCTION ChunkPair
  measured(const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team, std::int64_t row,
           std::int64_t chunk) const {
    ChunkSource<float> source;
    if (!find_chunk(rows, row, chunk, source)) {
      return {negative_infinity, -std::int64_t{RowStatus::invalid_parameter}};
    }
    const bool has_next = row + 1 < rows.rows() && source.size == chunk_size;
    const float* ahead = has_next ? source.logits + rows.logits.stride(0) : nullptr;
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    return measure_pieces<ExecutionSpace>(team, source, inverse, chunk_buffer(team), ahead,
                                          pieces.of_chunk(row, first_chunk + chunk));
  }

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank() % rows.rows();
    const std::int64_t chunk = team.league_rank() / rows.rows();
    const ChunkPair pair = measured(team, row, chunk);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      measures.chunk_maximum(row, chunk) = pair.maximum;
      measures.chunk_sum(row, chunk) = pair.sum;
    });
  }
};

}  // namespace

template <class ExecutionSpace>
void finish_logits(const ExecutionSpace& space, const LmHeadOptions& options,
                   const LogitWindow<MemoryOf<ExecutionSpace>>& window) {
  if (options.scale == 1.0f && options.soft_cap == 0.0f) return;
  const auto width = static_cast<std::int64_t>(window.logits.extent(1));
  const std::int64_t length = runs_on_host<ExecutionSpace> ? run_length : 1;
  const std::int64_t runs = (width + length - 1) / length;
  launch_entries(
      "tokkos::lm_head::finish", space, static_cast<std::int64_t>(window.logits.extent(0)) * runs,
      FinishLogits<MemoryOf<ExecutionSpace>>{window, options.scale, options.soft_cap, width, runs});
}

template <class ExecutionSpace>
void edit_logits(const ExecutionSpace& space, const LogitWindow<MemoryOf<ExecutionSpace>>& window,
                 const LmHeadInputs<MemoryOf<ExecutionSpace>>& inputs,
                 const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  detail::launch_edits<ExecutionSpace, float>("tokkos::lm_head::edit", space, window, inputs.biases,
                                              inputs.penalties, row_status);
}

template <class ExecutionSpace>
void measure_block(const ExecutionSpace& space, const LogitBlock<MemoryOf<ExecutionSpace>>& block,
                   const PieceMasses<MemoryOf<ExecutionSpace>>& pieces) {
  const std::int64_t chunks = chunk_count(block.rows.active());
  const std::int64_t teams = block.rows.rows() * chunks;
  const std::int64_t first_chunk = block.first / chunk_size;
  if (pieces.masses.data() == nullptr || first_chunk < pieces.first_chunk) {
    launch_teams("tokkos::lm_head::measure", space, teams, chunk_team, chunk_scratch,
                 MeasureChunks<ExecutionSpace, float>{block.rows, block.measures, chunks});
  } else {
    launch_teams("tokkos::lm_head::measure_pieces", space, teams, chunk_team, chunk_scratch,
                 MeasurePieces<ExecutionSpace>{block.rows, block.measures, pieces, first_chunk});
  }
}

template <class ExecutionSpace>
void sum_rows(const ExecutionSpace& space, const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
              const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
              const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  launch_teams("tokkos::lm_head::rows", space, rows.rows(), row_team, 0,
               SumRows<ExecutionSpace, float>{rows, measures, row_status});
}

#define TOKKOS_INSTANTIATE(Space)                                                       \
  template void finish_logits<Space>(const Space&, const LmHeadOptions&,                \
                                     const LogitWindow<MemoryOf<Space>>&);              \
  template void edit_logits<Space>(const Space&, const LogitWindow<MemoryOf<Space>>&,   \
                                   const LmHeadInputs<MemoryOf<Space>>&,                \
                                   const Vector<std::int32_t, MemoryOf<Space>>&);       \
  template void measure_block<Space>(const Space&, const LogitBlock<MemoryOf<Space>>&,  \
                                     const PieceMasses<MemoryOf<Space>>&);              \
  template void sum_rows<Space>(const Space&, const LogitRows<float, MemoryOf<Space>>&, \
                                const RowMeasures<MemoryOf<Space>>&,                    \
                                const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
