// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include "engine/check_outputs.hpp"
#include "engine/draw_rows.hpp"
#include "engine/prepared_step.hpp"
#include "kernels/instantiate.hpp"

// What LogitProcessor::process makes of the edited logits.

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
void log_sum_exp_if_asked(const ExecutionSpace& space,
                          const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                          const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                          const Vector<float, MemoryOf<ExecutionSpace>>& result) {
  if (result.data() != nullptr) log_sum_exp(space, rows, measures, result);
}

}  // namespace

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::finish_step(const Matrix<Logit, memory_space>& logits,
                                                 const StepOutputs<memory_space>& outputs) {
  const std::span<const std::string> ids = m_prepared->request_ids;
  const StagedRows<ExecutionSpace>& staged = m_prepared->rows();
  LogitRows<Logit, memory_space> step;
  step.logits = logits;
  step.temperature = staged.temperature();
  step.active_vocabulary = m_active_vocabulary;
  step.bitmask = outputs.bitmask;
  if (!has_bitmask(outputs)) {
    step.bitmask = {m_prepared->edits().mask_words(), m_prepared->mask_positions()};
  }
  const auto measures = m_workspace.measures(step.rows());
  if (outputs.probabilities.data() != nullptr && !reads_logits(outputs)) {
    const TracedStage stage(m_trace_recorder, "softmax", ids);
    softmax(m_space, step, measures, outputs.probabilities, outputs.row_status);
    log_sum_exp_if_asked(m_space, step, measures, outputs.log_sum_exp);
    return;
  }
  {
    const TracedStage stage(m_trace_recorder, "softmax", ids);
    measure(m_space, step, measures, outputs.row_status);
  }
  RowCuts<memory_space> cuts;
  if (staged.truncates() && reads_logits(outputs)) {
    const TracedStage stage(m_trace_recorder, "renormalization by top p", ids);
    cuts = m_cuts.cuts(step.rows());
    truncate(m_space, step, measures, staged.truncation(), cuts, outputs.row_status);
  }
  // Whatever reads the logits goes before what may overwrite them.
  sample_step(step, cuts, outputs);
  write_step(step, cuts, outputs);
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::sample_step(const LogitRows<Logit, memory_space>& step,
                                                 const RowCuts<memory_space>& cuts,
                                                 const StepOutputs<memory_space>& outputs) {
  if (outputs.tokens.data() == nullptr && outputs.top_tokens.data() == nullptr) return;
  const TracedStage stage(m_trace_recorder, "sampling", m_prepared->request_ids);
  const auto measures = m_workspace.measures(step.rows());
  if (outputs.tokens.data() != nullptr) {
    draw_rows(m_space, step, measures, m_prepared->rows().uniforms(), outputs.tokens, cuts,
              outputs.row_status, m_prepared->ties());
  }
  if (outputs.logprobs.data() != nullptr) {
    log_probabilities(m_space, step, measures, Vector<const TokenId, memory_space>(outputs.tokens),
                      outputs.logprobs, cuts, outputs.row_status);
  }
  if (outputs.raw_logprobs.data() != nullptr) score_raw(step, outputs);
  if (outputs.top_tokens.data() != nullptr) {
    top_log_probabilities(m_space, step, measures, outputs.top_tokens, outputs.top_logprobs, cuts);
  }
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::write_step(const LogitRows<Logit, memory_space>& step,
                                                const RowCuts<memory_space>& cuts,
                                                const StepOutputs<memory_space>& outputs) {
  if (outputs.probabilities.data() == nullptr && outputs.log_sum_exp.data() == nullptr &&
      outputs.truncated_probabilities.data() == nullptr) {
    return;
  }
  const TracedStage stage(m_trace_recorder, "softmax", m_prepared->request_ids);
  const auto measures = m_workspace.measures(step.rows());
  const auto write = [&](const Matrix<float, memory_space>& probabilities, bool truncated) {
    if (probabilities.data() == nullptr) return;
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
  log_sum_exp_if_asked(m_space, step, measures, outputs.log_sum_exp);
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                         \
  template void LogitProcessor<Space>::finish_step<Logit>(const Matrix<Logit, MemoryOf<Space>>&, \
                                                          const StepOutputs<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
