// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/logit_type.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>
#include <tokkos/lm_head/lm_head.hpp>
#include <tokkos/lm_head/lm_head_step.hpp>
#include <tokkos/request/generation_config.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tokkos {

template <class ExecutionSpace>
class PreparedStep;

/// Whether a request has to be drawn from a whole row of logits, because it truncates (top_k, top_p
/// or min_p): not if it is greedy, and not by a top_k of all tokens, which change nothing.
/// @param active_vocabulary how many tokens exist
bool needs_whole_row(const GenerationConfig& config, std::int64_t active_vocabulary);

/// LogitProcessor::process from hidden states: a batch of requests, with their biases, penalties,
/// masks, EditHook, temperatures and random streams, through an LmHead. The same tokens and
/// log-probabilities as LmHead::logits followed by LogitProcessor::process with the head's active
/// vocabulary, bit for bit, where those of the head are (see LmHead).
///
/// Whole rows of logits, and so LmHead::logits and a LogitProcessor, are what requests need for
/// which needs_whole_row holds, and probabilities, raw log-probabilities, draft trees that are
/// verified, a LogitHook and steps that are prepared or captured in a graph. Tokens do not depend
/// on the other requests: a step may be done in two calls, one of each kind.
///
/// Histories and matchers come back as they were, also when something throws. One object is for one
/// thread at a time, and its head with it. Holds two blobs (see staging_capacity) beside the head's
/// memory; they grow to the largest step and are kept.
template <class ExecutionSpace, LogitType Weight>
class LmHeadProcessor {
 public:
  /// Where the Views of a call lie.
  using memory_space = MemoryOf<ExecutionSpace>;

  /// @param head is referred to: it must outlive this, and not be moved
  /// @param trace_recorder gets begin and end events of each stage, per request; not owned, may be
  /// null
  /// @throws Error if the head was moved from, or Kokkos is not initialized
  explicit LmHeadProcessor(const LmHead<ExecutionSpace, Weight>& head,
                           EventTraceRecorder* trace_recorder = nullptr);
  LmHeadProcessor(const LmHead<ExecutionSpace, Weight>&& head,
                  EventTraceRecorder* trace_recorder = nullptr) = delete;
  ~LmHeadProcessor();
  /// Moves; what is left may be destroyed or assigned to.
  LmHeadProcessor(LmHeadProcessor&&) noexcept;
  /// Moves; what is left may be destroyed or assigned to.
  LmHeadProcessor& operator=(LmHeadProcessor&&) noexcept;

  /// One step: validates and flattens the requests, stages them in one blob, uploads that once and
  /// has the head process it on its instance. Asynchronous: requests and uniforms may go when it
  /// returns. It waits for the kernels of the call before the last where they still run, for all
  /// of the instance where a step needs more room than any before it, and where LmHead::process
  /// does.
  /// @param hidden [n, d], n <= max_rows: a row for each row of the requests, there or written by
  ///   what the head's instance was given before
  /// @param outputs without `uniforms`, which are staged
  /// @param uniforms [n] in [0, 1), for the tokens; empty: step_uniforms
  /// @throws Error before any mask or hook is called and before anything is written (more than
  ///   max_edits: behind hooks of edits, before anything is written); what a
  ///   VocabularyMask or an EditHook throws passes on, also before anything is written; and
  ///   std::bad_alloc as LmHead::process does
  void process(const Matrix<const float, memory_space>& hidden, const StepRequests& requests,
               const LmHeadOutputs<memory_space>& outputs, std::span<const float> uniforms = {});

  /// As LogitProcessor::set_max_edits.
  void set_max_edits(std::int64_t most);

  /// Bytes that the last call staged (and uploaded, where the device has memory of its own).
  std::size_t staged_bytes() const { return m_staged_bytes; }

  /// Bytes of staging memory held, host and device together.
  std::size_t staging_capacity() const;

 private:
  void check_not_moved_from() const;
  void check_step(const Matrix<const float, memory_space>& hidden, const StepRequests& requests,
                  const LmHeadOutputs<memory_space>& outputs) const;

  const LmHead<ExecutionSpace, Weight>* m_head;
  EventTraceRecorder* m_trace_recorder;
  std::unique_ptr<PreparedStep<ExecutionSpace>> m_prepared;
  std::size_t m_staged_bytes = 0;
};

}  // namespace tokkos
