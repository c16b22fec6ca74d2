// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "engine/check_engine.hpp"
#include "engine/prepared_step.hpp"
#include "engine/raw_step.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos {

template <class ExecutionSpace>
LogitProcessor<ExecutionSpace>::LogitProcessor(const ExecutionSpace& space,
                                               std::int64_t max_num_token, std::int64_t vocab_size,
                                               std::optional<std::int64_t> active_vocabulary,
                                               EventTraceRecorder* trace_recorder)
    : m_space(space),
      m_max_num_token(max_num_token),
      m_vocab_size(vocab_size),
      m_active_vocabulary(checked_active_vocabulary(max_num_token, vocab_size, active_vocabulary)),
      m_trace_recorder(trace_recorder),
      m_workspace(max_num_token, vocab_size),
      m_cuts(max_num_token),
      m_prepared(std::make_unique<PreparedStep<ExecutionSpace>>(space)) {}

template <class ExecutionSpace>
LogitProcessor<ExecutionSpace>::~LogitProcessor() = default;
template <class ExecutionSpace>
LogitProcessor<ExecutionSpace>::LogitProcessor(LogitProcessor&&) noexcept = default;
template <class ExecutionSpace>
LogitProcessor<ExecutionSpace>& LogitProcessor<ExecutionSpace>::operator=(
    LogitProcessor&&) noexcept = default;

template <class ExecutionSpace>
std::size_t LogitProcessor<ExecutionSpace>::staging_capacity() const {
  return m_prepared ? m_prepared->capacity() : 0;
}

template <class ExecutionSpace>
void LogitProcessor<ExecutionSpace>::set_max_edits(std::int64_t most) {
  check_not_moved_from(m_prepared != nullptr);
  m_prepared->set_max_edits(most);
}

template <class ExecutionSpace>
void LogitProcessor<ExecutionSpace>::check_step(std::int64_t rows, std::int64_t columns,
                                                const StepRequests& requests) const {
  check_call(rows, columns, m_max_num_token, m_vocab_size);
  check_not_moved_from(m_prepared != nullptr);
  static_cast<void>(m_workspace.measures(rows));  // throws after Kokkos::finalize
  validate(requests, rows, m_vocab_size);
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::update_logits(
    const Matrix<Logit, memory_space>& logits, const StepRequests& requests,
    const Vector<std::int32_t, memory_space>& row_status) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_step(rows, static_cast<std::int64_t>(logits.extent(1)), requests);
  const typename PreparedStep<ExecutionSpace>::Call call(*m_prepared);
  check_matrix("logits", logits, rows, m_vocab_size);
  check_optional_vector("row_status", row_status, rows);
  const TracedStage update(m_trace_recorder, "update logits", requests.request_ids);
  if (rows == 0) return;
  StepEdits& flat = m_prepared->flat();
  flat.assign(requests, m_active_vocabulary, m_vocab_size, m_trace_recorder);
  Staging<ExecutionSpace>& blob =
      m_prepared->begin_call(m_space, StagedEdits<ExecutionSpace>::room(flat));
  const StagedEdits<ExecutionSpace> edits(blob, flat);
  m_staged_bytes = blob.size();
  m_prepared->launch_call(m_space, blob, [&] {
    {
      const TracedStage stage(m_trace_recorder, "apply logit bias", requests.request_ids);
      detail::apply_logit_bias(m_space, logits, edits.biases(), row_status);
    }
    {
      const TracedStage stage(m_trace_recorder, "apply penalty", requests.request_ids);
      detail::apply_penalty(m_space, logits, edits.penalties(), row_status);
    }
    const TracedStage stage(m_trace_recorder, "apply logit mask", requests.request_ids);
    apply_bitmask_inplace(m_space, logits, edits.mask_rows(), edits.mask_positions(),
                          edits.mask_words(), {.active_vocabulary = m_active_vocabulary});
  });
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::compute_probabilities(
    const Matrix<Logit, memory_space>& logits, const StepRequests& requests,
    const Matrix<float, memory_space>& probabilities,
    const Vector<std::int32_t, memory_space>& row_status) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_step(rows, static_cast<std::int64_t>(logits.extent(1)), requests);
  const typename PreparedStep<ExecutionSpace>::Call call(*m_prepared);
  const TracedStage stage(m_trace_recorder, "softmax", requests.request_ids);
  if (rows == 0) return;
  Staging<ExecutionSpace>& blob =
      m_prepared->begin_call(m_space, StagedRows<ExecutionSpace>::room(rows));
  const StagedRows<ExecutionSpace> staged(blob, requests, rows, {});
  m_staged_bytes = blob.size();
  LogitRows<Logit, memory_space> step;
  step.logits = logits;
  step.temperature = staged.temperature();
  step.active_vocabulary = m_active_vocabulary;
  m_prepared->launch_call(m_space, blob, [&] {
    softmax(m_space, step, m_workspace.measures(rows), probabilities, row_status);
  });
}

#define TOKKOS_INSTANTIATE_CLASS(Space) template class LogitProcessor<Space>;
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE_CLASS)

#define TOKKOS_INSTANTIATE(Space, Logit)                             \
  template void LogitProcessor<Space>::update_logits<Logit>(         \
      const Matrix<Logit, MemoryOf<Space>>&, const StepRequests&,    \
      const Vector<std::int32_t, MemoryOf<Space>>&);                 \
  template void LogitProcessor<Space>::compute_probabilities<Logit>( \
      const Matrix<Logit, MemoryOf<Space>>&, const StepRequests&,    \
      const Matrix<float, MemoryOf<Space>>&, const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
