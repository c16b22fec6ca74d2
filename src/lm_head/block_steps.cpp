// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/portable_tanh.hpp>

#include "kernels/edit_functors.hpp"
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
    if (window.chunks.data() != nullptr && !window.has_chunk(row)) return;
    const std::int64_t begin = entry % runs * length();
    const std::int64_t end = Kokkos::min(begin + length(), width);
    float* x = window.logits.data() + row * static_cast<std::int64_t>(window.logits.stride(0));
    for (std::int64_t j = begin; j < end; ++j) x[j] *= scale;
    if (cap == 0.0f) return;
    for (std::int64_t j = begin; j < end; ++j) x[j] = cap * portable_tanh(x[j] / cap);
  }

  KOKKOS_FUNCTION std::int64_t length() const { return (width + runs - 1) / runs; }
};

template <class ExecutionSpace>
struct EditWindow {
  using Window = LogitWindow<MemoryOf<ExecutionSpace>>;
  detail::AddBias<ExecutionSpace, float, Window> add;
  detail::Penalize<ExecutionSpace, float, Window> penalize;
  std::int64_t biases;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i < biases) {
      add(i);
    } else {
      penalize(i - biases);
    }
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
  const auto biases = static_cast<std::int64_t>(inputs.biases.token_ids.extent(0));
  const auto penalties = static_cast<std::int64_t>(inputs.penalties.token_ids.extent(0));
  launch_entries(
      "tokkos::lm_head::edit", space, biases + penalties,
      EditWindow<ExecutionSpace>{
          {window, inputs.biases, row_status}, {window, inputs.penalties, row_status}, biases});
}

template <class ExecutionSpace>
void measure_block(const ExecutionSpace& space, const LogitBlock<MemoryOf<ExecutionSpace>>& block) {
  const std::int64_t chunks = chunk_count(block.rows.active());
  launch_teams("tokkos::lm_head::measure", space, block.rows.rows() * chunks, chunk_team,
               chunk_scratch,
               MeasureChunks<ExecutionSpace, float>{block.rows, block.measures, chunks});
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
  template void measure_block<Space>(const Space&, const LogitBlock<MemoryOf<Space>>&); \
  template void sum_rows<Space>(const Space&, const LogitRows<float, MemoryOf<Space>>&, \
                                const RowMeasures<MemoryOf<Space>>&,                    \
                                const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
