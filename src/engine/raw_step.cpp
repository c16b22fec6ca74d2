// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/raw_step.hpp"

#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/raw_log_probabilities.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include "engine/prepared_step.hpp"
#include "kernels/instantiate.hpp"

// What LogitProcessor::process reads of the logits before their edits, and makes of it once a token
// is drawn.

namespace tokkos {

template <class ExecutionSpace>
template <LogitType Logit>
LogitRows<Logit, MemoryOf<ExecutionSpace>> LogitProcessor<ExecutionSpace>::raw_rows(
    const Matrix<const Logit, memory_space>& logits) const {
  LogitRows<Logit, memory_space> rows;
  rows.logits = logits;
  rows.temperature = m_prepared->raw_temperature();
  rows.active_vocabulary = m_active_vocabulary;
  return rows;
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::read_raw(const Matrix<Logit, memory_space>& logits,
                                              const StepOutputs<memory_space>& outputs) {
  const std::span<const std::string> ids = m_prepared->request_ids;
  const auto rows = raw_rows<Logit>(logits);
  const auto measures = m_raw->measures(rows.rows());
  {
    const TracedStage stage(m_trace_recorder, "softmax", ids);
    measure(m_space, rows, measures);  // without a status: the mask may forbid what is bad
  }
  if (outputs.raw_top_tokens.data() != nullptr) {
    const TracedStage stage(m_trace_recorder, "sampling", ids);
    top_log_probabilities(m_space, rows, measures, outputs.raw_top_tokens,
                          outputs.raw_top_logprobs);
  }
  if (outputs.raw_logprobs.data() == nullptr) return;
  const TracedStage stage(m_trace_recorder, "update logits", ids);
  const StagedEdits<ExecutionSpace>& edits = m_prepared->edits();
  save_edited_logits(m_space, rows.logits, edits.biases(), edits.penalties(),
                     m_raw->edited_logits());
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::score_raw(const LogitRows<Logit, memory_space>& step,
                                               const StepOutputs<memory_space>& outputs) {
  const StagedEdits<ExecutionSpace>& edits = m_prepared->edits();
  // A mask that was stored does not matter: no token that it forbids is drawn.
  raw_log_probabilities(m_space, raw_rows<Logit>(step.logits), m_raw->measures(step.rows()),
                        edits.biases(), edits.penalties(),
                        Vector<const float, memory_space>(m_raw->edited_logits()),
                        Vector<const TokenId, memory_space>(outputs.tokens), outputs.raw_logprobs);
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                          \
  template void LogitProcessor<Space>::read_raw<Logit>(const Matrix<Logit, MemoryOf<Space>>&,     \
                                                       const StepOutputs<MemoryOf<Space>>&);      \
  template void LogitProcessor<Space>::score_raw<Logit>(const LogitRows<Logit, MemoryOf<Space>>&, \
                                                        const StepOutputs<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
