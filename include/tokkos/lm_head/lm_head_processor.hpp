// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/logit_type.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>
#include <tokkos/lm_head/lm_head.hpp>
#include <tokkos/lm_head/lm_head_step.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace tokkos {

template <class ExecutionSpace>
class PreparedStep;

/// LogitProcessor::process from hidden states: a batch of requests, with their biases, penalties,
/// masks, EditHook, temperatures and random streams, through an LmHead. The same tokens and
/// log-probabilities as LmHead::logits followed by LogitProcessor::process, bit for bit, where
/// those of the head are (see LmHead).
///
/// A request that truncates (top_k, top_p, min_p) needs whole rows of logits, and so do
/// probabilities, draft trees that are verified and a LogitHook: for these, LmHead::logits and
/// LogitProcessor. Histories and matchers come back as they were, also when something throws. One
/// object is for one thread at a time, and its head with it.
template <class ExecutionSpace, LogitType Weight>
class LmHeadProcessor {
 public:
  /// Where the Views of a call lie.
  using memory_space = MemoryOf<ExecutionSpace>;

  /// @param head is referred to, and must outlive this; max_rows and vocabulary are its own
  /// @param trace_recorder gets begin and end events of each stage, per request; not owned, may be
  /// null
  explicit LmHeadProcessor(const LmHead<ExecutionSpace, Weight>& head,
                           EventTraceRecorder* trace_recorder = nullptr);
  ~LmHeadProcessor();
  /// Moves; what is left may be destroyed or assigned to.
  LmHeadProcessor(LmHeadProcessor&&) noexcept;
  /// Moves; what is left may be destroyed or assigned to.
  LmHeadProcessor& operator=(LmHeadProcessor&&) noexcept;

  /// One step: validates and flattens the requests, stages them in one blob, uploads that once and
  /// has the head process it, asynchronously on the head's instance (but see LmHead::process).
  /// @param hidden [n, d], n <= max_rows: a row for each row of the requests
  /// @param outputs without `uniforms`, which are staged
  /// @param uniforms [n] in [0, 1), for the tokens; empty: step_uniforms
  /// @throws Error before anything is written; what a VocabularyMask or an EditHook throws passes
  /// on, also before anything is written
  void process(const Matrix<const float, memory_space>& hidden, const StepRequests& requests,
               const LmHeadOutputs<memory_space>& outputs, std::span<const float> uniforms = {});

  /// Bytes that the last call staged (and uploaded, where the device has memory of its own).
  std::size_t staged_bytes() const { return m_staged_bytes; }

 private:
  const LmHead<ExecutionSpace, Weight>* m_head;
  EventTraceRecorder* m_trace_recorder;
  std::unique_ptr<PreparedStep<ExecutionSpace>> m_prepared;
  std::size_t m_staged_bytes = 0;
};

}  // namespace tokkos
