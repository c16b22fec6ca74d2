// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "engine/check_engine.hpp"
#include "engine/row_temperatures.hpp"
#include "kernels/instantiate.hpp"

#include <algorithm>

namespace tokkos {

namespace {

/// Where a step's edits lie in the blob.
template <class ExecutionSpace>
struct StagedEdits {
  using Blob = Staging<ExecutionSpace>;
  template <class T>
  using Slot = typename Blob::template Slot<T>;
  Slot<std::int32_t> bias_rows, bias_tokens;
  Slot<float> biases;
  Slot<std::int32_t> penalty_rows, penalty_positions, penalty_tokens, penalty_counts;
  Slot<float> penalties;
  Slot<std::int32_t> mask_rows, mask_positions, mask_words;

  StagedEdits(Blob& blob, const ExecutionSpace& space, const StepEdits& edits) {
    blob.begin(space, room(edits));
    const auto add = [&blob](const auto& array) {
      using T = typename std::decay_t<decltype(array)>::value_type;
      const auto slot = blob.template add<T>(array.size());
      std::copy(array.begin(), array.end(), blob.host(slot).begin());
      return slot;
    };
    bias_rows = add(edits.bias_rows);
    bias_tokens = add(edits.bias_tokens);
    biases = add(edits.biases);
    penalty_rows = add(edits.penalty_rows);
    penalty_positions = add(edits.penalty_positions);
    penalty_tokens = add(edits.penalty_tokens);
    penalty_counts = add(edits.penalty_counts);
    penalties = add(edits.penalties);
    mask_rows = add(edits.mask_rows);
    mask_words = add(edits.mask_words);
    mask_positions = blob.template add<std::int32_t>(edits.mask_rows.size());
    std::int32_t position = 0;
    for (std::int32_t& value : blob.host(mask_positions)) value = position++;
    blob.upload(space);
  }

  static std::size_t room(const StepEdits& edits) {
    return 3 * Blob::template room<std::int32_t>(edits.biases.size()) +
           3 * Blob::template room<std::int32_t>(edits.penalty_tokens.size()) +
           Blob::template room<std::int32_t>(edits.penalty_rows.size()) +
           Blob::template room<float>(edits.penalties.size()) +
           2 * Blob::template room<std::int32_t>(edits.mask_rows.size()) +
           Blob::template room<std::int32_t>(edits.mask_words.size());
  }
};

}  // namespace

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
      m_workspace(max_num_token, vocab_size) {}

template <class ExecutionSpace>
void LogitProcessor<ExecutionSpace>::check_step(std::int64_t rows, std::int64_t columns,
                                                const StepRequests& requests) const {
  check_call(rows, columns, m_max_num_token, m_vocab_size);
  validate(requests, rows, m_vocab_size);
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::update_logits(
    const Matrix<Logit, memory_space>& logits, const StepRequests& requests,
    const Vector<std::int32_t, memory_space>& row_status) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_step(rows, static_cast<std::int64_t>(logits.extent(1)), requests);
  check_matrix("logits", logits, rows, m_vocab_size);
  check_optional_vector("row_status", row_status, rows);
  const TracedStage update(m_trace_recorder, "update logits", requests.request_ids);
  m_edits.assign(requests, m_active_vocabulary);
  const StagedEdits<ExecutionSpace> at(m_staging, m_space, m_edits);
  const auto device = [this](auto slot) { return m_staging.on_device(slot); };
  {
    const TracedStage stage(m_trace_recorder, "apply logit bias", requests.request_ids);
    apply_logit_bias_inplace(m_space, logits, device(at.bias_rows), device(at.bias_tokens),
                             device(at.biases), row_status);
  }
  {
    const TracedStage stage(m_trace_recorder, "apply penalty", requests.request_ids);
    apply_penalty_inplace(m_space, logits, device(at.penalty_rows), device(at.penalty_positions),
                          device(at.penalty_tokens), device(at.penalty_counts),
                          m_staging.on_device(at.penalties, 3), row_status);
  }
  {
    const TracedStage stage(m_trace_recorder, "apply logit mask", requests.request_ids);
    apply_bitmask_inplace(m_space, logits, device(at.mask_rows), device(at.mask_positions),
                          m_staging.on_device(at.mask_words, m_edits.words_per_row),
                          {.active_vocabulary = m_active_vocabulary});
  }
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::compute_probabilities(
    const Matrix<Logit, memory_space>& logits, const StepRequests& requests,
    const Matrix<float, memory_space>& probabilities,
    const Vector<std::int32_t, memory_space>& row_status) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_step(rows, static_cast<std::int64_t>(logits.extent(1)), requests);
  const TracedStage stage(m_trace_recorder, "softmax", requests.request_ids);
  if (rows == 0) return;
  m_staging.begin(m_space, m_staging.template room<float>(static_cast<std::size_t>(rows)));
  const auto slot = m_staging.template add<float>(static_cast<std::size_t>(rows));
  fill_row_temperatures(requests, m_staging.host(slot));
  m_staging.upload(m_space);
  LogitRows<Logit, memory_space> step;
  step.logits = logits;
  step.temperature = m_staging.on_device(slot);
  step.active_vocabulary = m_active_vocabulary;
  softmax(m_space, step, m_workspace.measures(rows), probabilities, row_status);
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
