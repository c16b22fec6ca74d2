// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include "engine/check_engine.hpp"
#include "engine/check_outputs.hpp"
#include "engine/draw_rows.hpp"
#include "engine/prepared_step.hpp"
#include "engine/uniforms.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos {

template <class ExecutionSpace>
void LogitProcessor<ExecutionSpace>::prepare(std::int64_t rows, const StepRequests& requests,
                                             const StepOptions& options) {
  check_not_moved_from(m_prepared != nullptr);
  m_prepared->finish();  // also if this step is refused: an older one must not be taken for it
  if (rows < 0 || rows > m_max_num_token) {
    throw Error("rows", std::nullopt, to_text(rows),
                "a number in [0, max_num_token = " + to_text(m_max_num_token) + "]");
  }
  prepare_step(rows, requests, true, options);
}

template <class ExecutionSpace>
void LogitProcessor<ExecutionSpace>::prepare_step(std::int64_t rows, const StepRequests& requests,
                                                  bool draws, const StepOptions& options) {
  check_step(rows, m_vocab_size, requests);
  std::vector<float> own;
  std::span<const float> uniforms = options.uniforms;
  if (draws && uniforms.empty()) {
    own = uniforms_of_valid_step(requests, rows, Purpose::sample);
    uniforms = own;
  }
  if (!uniforms.empty() || draws) check_uniforms("uniforms", uniforms, rows);
  const TracedStage update(m_trace_recorder, "update logits", requests.request_ids);
  m_prepared->request_ids.clear();
  if (m_trace_recorder != nullptr) {
    m_prepared->request_ids.assign(requests.request_ids.begin(), requests.request_ids.end());
  }
  m_prepared->prepare(m_space, requests, rows, m_vocab_size, m_active_vocabulary, uniforms,
                      options);
  m_staged_bytes = m_prepared->blob().size();
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::process_step(const Matrix<Logit, memory_space>& logits,
                                                  const StepRequests& requests,
                                                  const StepOutputs<memory_space>& outputs,
                                                  const StepOptions& options,
                                                  const LogitHook<ExecutionSpace, Logit>& hook) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_step(rows, static_cast<std::int64_t>(logits.extent(1)), requests);
  check_outputs(logits, outputs);
  prepare_step(rows, requests, outputs.tokens.data() != nullptr, options);
  process_prepared(logits, outputs, hook);
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::process_prepared(
    const Matrix<Logit, memory_space>& logits, const StepOutputs<memory_space>& outputs,
    const LogitHook<ExecutionSpace, Logit>& hook) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_call(rows, static_cast<std::int64_t>(logits.extent(1)), m_max_num_token, m_vocab_size);
  check_not_moved_from(m_prepared != nullptr);
  static_cast<void>(m_workspace.measures(rows));  // throws after Kokkos::finalize
  check_prepared(m_prepared->size(), rows, m_prepared->draws() || outputs.tokens.extent(0) == 0);
  check_outputs(logits, outputs);
  m_prepared->finish();  // also if a hook throws: its logits are edited, and must not be again
  if (rows > 0) {
    const StagedRows<ExecutionSpace>& staged = m_prepared->rows();
    m_prepared->blob().precede(m_space);
    edit_step(logits, outputs, hook);
    LogitRows<Logit, memory_space> step;
    step.logits = logits;
    step.temperature = staged.temperature();
    step.active_vocabulary = m_active_vocabulary;
    step.bitmask = {m_prepared->edits().mask_words(), m_prepared->mask_positions()};
    finish_step(step, outputs);
    m_prepared->blob().end(m_space);
  }
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::edit_step(const Matrix<Logit, memory_space>& logits,
                                               const StepOutputs<memory_space>& outputs,
                                               const LogitHook<ExecutionSpace, Logit>& hook) {
  const StagedEdits<ExecutionSpace>& edits = m_prepared->edits();
  const TracedStage stage(m_trace_recorder, "update logits", m_prepared->request_ids);
  apply_edits(m_space, logits, edits.biases(), edits.penalties(), outputs.row_status);
  if (hook) hook(m_space, logits);
  if (!m_prepared->stores_mask()) return;
  const TracedStage mask(m_trace_recorder, "apply logit mask", m_prepared->request_ids);
  apply_bitmask_inplace(m_space, logits, edits.mask_rows(), edits.mask_positions(),
                        edits.mask_words(), {.active_vocabulary = m_active_vocabulary});
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::finish_step(const LogitRows<Logit, memory_space>& step,
                                                 const StepOutputs<memory_space>& outputs) {
  const std::span<const std::string> ids = m_prepared->request_ids;
  const StagedRows<ExecutionSpace>& staged = m_prepared->rows();
  const auto measures = m_workspace.measures(step.rows());
  const bool normalizes = outputs.probabilities.data() != nullptr;
  if (normalizes && !reads_logits(outputs)) {
    const TracedStage stage(m_trace_recorder, "softmax", ids);
    softmax(m_space, step, measures, outputs.probabilities, outputs.row_status);
    log_sum_exp_if_asked(m_space, step, measures, outputs);
    return;
  }
  measure(m_space, step, measures, outputs.row_status);
  RowCuts<memory_space> cuts;
  if (staged.truncates() && reads_logits(outputs)) {
    const TracedStage stage(m_trace_recorder, "renormalization by top p", ids);
    cuts = m_cuts.cuts(step.rows());
    truncate(m_space, step, measures, staged.truncation(), cuts, outputs.row_status);
  }
  // Whatever reads the logits goes before what may overwrite them.
  if (outputs.tokens.data() != nullptr) {
    const TracedStage stage(m_trace_recorder, "sampling", ids);
    draw_rows(m_space, step, measures, staged.uniforms(), outputs.tokens, cuts, outputs.row_status,
              m_prepared->ties());
    if (outputs.logprobs.data() != nullptr) {
      log_probabilities(m_space, step, measures,
                        Vector<const TokenId, memory_space>(outputs.tokens), outputs.logprobs, cuts,
                        outputs.row_status);
    }
  }
  if (outputs.top_tokens.data() != nullptr) {
    top_log_probabilities(m_space, step, measures, outputs.top_tokens, outputs.top_logprobs, cuts);
  }
  const auto write = [&](const Matrix<float, memory_space>& probabilities, bool truncated) {
    if (probabilities.data() == nullptr) return;
    const TracedStage stage(m_trace_recorder, "softmax", ids);
    if (truncated && cuts.count.data() != nullptr) {
      normalize_truncated(m_space, step, measures, cuts, probabilities);
    } else {
      normalize(m_space, step, measures, probabilities);
    }
  };
  const bool truncated_last =
      static_cast<const void*>(outputs.truncated_probabilities.data()) == step.logits.data();
  if (!truncated_last) write(outputs.truncated_probabilities, true);
  write(outputs.probabilities, false);
  if (truncated_last) write(outputs.truncated_probabilities, true);
  log_sum_exp_if_asked(m_space, step, measures, outputs);
}

#define TOKKOS_INSTANTIATE_CLASS(Space)                                           \
  template void LogitProcessor<Space>::prepare(std::int64_t, const StepRequests&, \
                                               const StepOptions&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE_CLASS)

#define TOKKOS_INSTANTIATE(Space, Logit)                                                        \
  template void LogitProcessor<Space>::process_step<Logit>(                                     \
      const Matrix<Logit, MemoryOf<Space>>&, const StepRequests&,                               \
      const StepOutputs<MemoryOf<Space>>&, const StepOptions&, const LogitHook<Space, Logit>&); \
  template void LogitProcessor<Space>::process_prepared<Logit>(                                 \
      const Matrix<Logit, MemoryOf<Space>>&, const StepOutputs<MemoryOf<Space>>&,               \
      const LogitHook<Space, Logit>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
