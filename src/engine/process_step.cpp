// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_edits.hpp>

#include "engine/check_engine.hpp"
#include "engine/check_outputs.hpp"
#include "engine/prepared_step.hpp"
#include "engine/raw_step.hpp"
#include "engine/uniforms.hpp"
#include "kernels/instantiate.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tokkos {

template <class ExecutionSpace>
void LogitProcessor<ExecutionSpace>::prepare(std::int64_t rows, const StepRequests& requests,
                                             const StepOptions& options) {
  check_not_moved_from(m_prepared != nullptr);
  m_prepared->check_idle();
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
  check_ties(options.ties);
  const typename PreparedStep<ExecutionSpace>::Call call(*m_prepared);
  std::vector<float> own;
  std::span<const float> uniforms = options.uniforms;
  if (draws && uniforms.empty()) {
    own = uniforms_of_valid_step(requests, rows, Purpose::sample);
    uniforms = own;
  }
  if (!uniforms.empty() || draws) check_uniforms("uniforms", uniforms, rows);
  const TracedStage update(m_trace_recorder, "update logits", requests.request_ids);
  m_prepared->flatten(requests, m_vocab_size, m_active_vocabulary, m_trace_recorder);
  std::vector<std::string> traced;  // none where nothing is traced
  if (m_trace_recorder != nullptr) {
    traced.assign(requests.request_ids.begin(), requests.request_ids.end());
  }
  m_prepared->stage(m_space, requests, rows, uniforms, options);  // only memory can be refused now
  m_prepared->request_ids = std::move(traced);
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
  check_outputs(logits, outputs, m_active_vocabulary, static_cast<bool>(hook));
  check_stored_mask(outputs, options.store_mask);
  prepare_step(rows, requests, outputs.tokens.data() != nullptr, options);
  try {
    process_prepared(logits, outputs, hook);
  } catch (...) {
    m_prepared->finish();  // the caller prepared nothing: out of memory, or a hook threw
    throw;
  }
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::process_prepared(
    const Matrix<Logit, memory_space>& logits, const StepOutputs<memory_space>& outputs,
    const LogitHook<ExecutionSpace, Logit>& hook) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_call(rows, static_cast<std::int64_t>(logits.extent(1)), m_max_num_token, m_vocab_size);
  check_not_moved_from(m_prepared != nullptr);
  const typename PreparedStep<ExecutionSpace>::Call call(*m_prepared);
  static_cast<void>(m_workspace.measures(rows));  // throws after Kokkos::finalize
  check_prepared(m_prepared->size(), rows);
  check_outputs(logits, outputs, m_active_vocabulary, static_cast<bool>(hook));
  check_stored_mask(outputs, m_prepared->stores_mask());
  if (rows > 0 && reads_raw_logits(outputs)) {  // allocates: before anything is launched or lost
    if (!m_raw) m_raw = std::make_unique<RawStep<ExecutionSpace>>(m_max_num_token, m_vocab_size);
    m_raw->begin(outputs.raw_logprobs.data() == nullptr ? 0 : m_prepared->edits().size());
  }
  if (rows == 0) return m_prepared->finish();
  m_prepared->launch(m_space, [&] {
    if (reads_raw_logits(outputs)) read_raw(logits, outputs);
    edit_step(logits, outputs, hook);
    finish_step(logits, outputs);
  });
}

template <class ExecutionSpace>
template <LogitType Logit>
void LogitProcessor<ExecutionSpace>::edit_step(const Matrix<Logit, memory_space>& logits,
                                               const StepOutputs<memory_space>& outputs,
                                               const LogitHook<ExecutionSpace, Logit>& hook) {
  const std::span<const std::string> ids = m_prepared->request_ids;
  const StagedEdits<ExecutionSpace>& edits = m_prepared->edits();
  const TracedStage stage(m_trace_recorder, "update logits", ids);
  {  // one launch does both
    std::optional<TracedStage> bias, penalty;
    if (edits.has_biases()) bias.emplace(m_trace_recorder, "apply logit bias", ids);
    if (edits.has_penalties()) penalty.emplace(m_trace_recorder, "apply penalty", ids);
    apply_edits(m_space, logits, edits.biases(), edits.penalties(), outputs.row_status);
  }
  if (hook) hook(m_space, logits);
  // A row is read under one mask: under that of the bitmask, if there is one.
  const bool has_two_masks = has_bitmask(outputs) && edits.has_masks();
  if (!m_prepared->stores_mask() && !has_two_masks) return;
  const TracedStage mask(m_trace_recorder, "apply logit mask", ids);
  apply_bitmask_inplace(m_space, logits, edits.mask_rows(), edits.mask_positions(),
                        edits.mask_words(), {.active_vocabulary = m_active_vocabulary});
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
