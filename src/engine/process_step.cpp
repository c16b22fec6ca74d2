// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "engine/check_engine.hpp"
#include "engine/row_temperatures.hpp"
#include "engine/staged_edits.hpp"
#include "engine/uniforms.hpp"
#include "kernels/instantiate.hpp"

#include <algorithm>
#include <optional>

namespace tokkos {

namespace {

template <LogitType Logit, class Space>
void check_outputs(const Matrix<Logit, Space>& logits, const StepOutputs<Space>& outputs) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  const auto vocabulary = static_cast<std::int64_t>(logits.extent(1));
  check_matrix("logits", logits, rows, vocabulary);
  check_optional_vector("tokens", outputs.tokens, rows);
  check_optional_vector("log_sum_exp", outputs.log_sum_exp, rows);
  check_optional_vector("row_status", outputs.row_status, rows);
  if (outputs.probabilities.data() == nullptr) return;
  check_matrix("probabilities", outputs.probabilities, rows, vocabulary);
  LogitRows<Logit, Space> in_place;
  in_place.logits = logits;
  check_overlap(in_place, outputs.probabilities);
}

/// Position of each row's words in the bitmask, -1 for a row without a mask.
void fill_mask_positions(std::span<const std::int32_t> mask_rows,
                         std::span<std::int32_t> positions) {
  std::ranges::fill(positions, -1);
  for (std::size_t i = 0; i < mask_rows.size(); ++i) {
    positions[static_cast<std::size_t>(mask_rows[i])] = static_cast<std::int32_t>(i);
  }
}

}  // namespace

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::process_step(const Matrix<Logit, memory_space>& logits,
                                                  const StepRequests& requests,
                                                  const StepOutputs<memory_space>& outputs,
                                                  const StepOptions& options) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_step(rows, static_cast<std::int64_t>(logits.extent(1)), requests);
  check_outputs(logits, outputs);
  const bool draws = outputs.tokens.data() != nullptr;
  std::vector<float> own;
  std::span<const float> uniforms = options.uniforms;
  if (draws && uniforms.empty()) {
    own = uniforms_of_valid_step(requests, rows, Purpose::sample);
    uniforms = own;
  }
  if (!uniforms.empty() || draws) check_uniforms("uniforms", uniforms, rows);
  if (rows == 0) return;
  std::optional<TracedStage> update(std::in_place, m_trace_recorder, "update logits",
                                    requests.request_ids);
  m_edits.assign(requests, m_active_vocabulary);

  const auto count = static_cast<std::size_t>(rows);
  m_staging.begin(m_space, StagedEdits<ExecutionSpace>::room(m_edits) +
                               3 * m_staging.template room<float>(count));
  const StagedEdits<ExecutionSpace> edits(m_staging, m_edits);
  const auto temperature = m_staging.template add<float>(count);
  fill_row_temperatures(requests, m_staging.host(temperature));
  const auto uniform = m_staging.template add<float>(draws ? count : 0);
  if (draws) std::ranges::copy(uniforms, m_staging.host(uniform).begin());
  const auto positions =
      m_staging.template add<std::int32_t>(m_edits.mask_rows.empty() ? 0 : count);
  fill_mask_positions(m_edits.mask_rows, m_staging.host(positions));
  m_staging.upload(m_space);

  apply_edits(m_space, logits, edits.biases(), edits.penalties(), outputs.row_status);
  LogitRows<Logit, memory_space> step;
  step.logits = logits;
  step.temperature = m_staging.on_device(temperature);
  step.active_vocabulary = m_active_vocabulary;
  step.bitmask = {edits.mask_words(), m_staging.on_device(positions)};
  if (options.store_mask) {
    const TracedStage stage(m_trace_recorder, "apply logit mask", requests.request_ids);
    apply_bitmask_inplace(m_space, logits, edits.mask_rows(), edits.mask_positions(),
                          edits.mask_words(), {.active_vocabulary = m_active_vocabulary});
  }
  update.reset();
  finish_step(step, outputs, m_staging.on_device(uniform), options, requests.request_ids);
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::finish_step(const LogitRows<Logit, memory_space>& step,
                                                 const StepOutputs<memory_space>& outputs,
                                                 const Vector<const float, memory_space>& uniforms,
                                                 const StepOptions& options,
                                                 std::span<const std::string> request_ids) {
  const auto measures = m_workspace.measures(step.rows());
  const bool normalizes = outputs.probabilities.data() != nullptr;
  if (outputs.tokens.data() == nullptr && normalizes) {
    const TracedStage stage(m_trace_recorder, "softmax", request_ids);
    softmax(m_space, step, measures, outputs.probabilities, outputs.row_status);
  } else {
    // A draw reads the logits, which normalizing in place replaces.
    measure(m_space, step, measures, outputs.row_status);
    if (outputs.tokens.data() != nullptr) {
      const TracedStage stage(m_trace_recorder, "sampling", request_ids);
      draw(m_space, step, measures, uniforms, outputs.tokens, outputs.row_status, options.ties);
    }
    if (normalizes) {
      const TracedStage stage(m_trace_recorder, "softmax", request_ids);
      normalize(m_space, step, measures, outputs.probabilities);
    }
  }
  if (outputs.log_sum_exp.data() != nullptr) {
    log_sum_exp(m_space, step, measures, outputs.log_sum_exp);
  }
}

#define TOKKOS_INSTANTIATE(Space, Logit)                          \
  template void LogitProcessor<Space>::process_step<Logit>(       \
      const Matrix<Logit, MemoryOf<Space>>&, const StepRequests&, \
      const StepOutputs<MemoryOf<Space>>&, const StepOptions&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
