// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>
#include <tokkos/engine/staging.hpp>
#include <tokkos/engine/step_outputs.hpp>
#include <tokkos/kernels/truncate.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/numerics/stored_logit.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

namespace tokkos {

template <class ExecutionSpace>
class PreparedStep;
template <class ExecutionSpace>
class RawStep;

/// Turns the logits of a step into probabilities: bias, penalties, mask, softmax with temperature,
/// for a batch of requests with one row each, several rows, or one row per draft node.
///
/// Mirrors MLC-LLM's class of the same name (the seed of this library). Calls are asynchronous.
/// Each validates everything before it writes anything, stages its arrays in one blob, uploads that
/// once and launches on the execution space instance that it was made with; host backends copy
/// nothing. Two blobs take turns: a call waits for the kernels of the call before the last, if they
/// still run. (`prepare` takes them strictly in turn, whatever came between, because a graph reads
/// the blob of its step; and while a step is prepared, the seed's calls have one blob for both.)
/// Histories and matchers come back as they were, also when something throws. One object is for one
/// thread at a time; two objects are independent.
template <class ExecutionSpace>
class LogitProcessor {
 public:
  /// Where the Views of a call lie.
  using memory_space = MemoryOf<ExecutionSpace>;

  /// @param max_num_token most rows of one call
  /// @param vocab_size V, the row length of the logits, in [1, 2^31)
  /// @param active_vocabulary tokens at or past it do not exist; in [1, V], below 2^19; default V
  /// @param trace_recorder gets begin and end events of each stage, per request; not owned, may be
  /// null
  /// @throws Error if a number is out of range or Kokkos is not initialized
  LogitProcessor(const ExecutionSpace& space, std::int64_t max_num_token, std::int64_t vocab_size,
                 std::optional<std::int64_t> active_vocabulary = std::nullopt,
                 EventTraceRecorder* trace_recorder = nullptr);
  ~LogitProcessor();
  /// Moves; what is left may be destroyed or assigned to.
  LogitProcessor(LogitProcessor&&) noexcept;
  /// Moves; what is left may be destroyed or assigned to.
  LogitProcessor& operator=(LogitProcessor&&) noexcept;

  /// Applies logit bias, penalties and masks to the logits, in this order.
  /// @param logits [n, V], n <= max_num_token, rows may be padded
  /// @param row_status [n] or empty: invalid_edit is ORed in (clear it between steps)
  /// @throws Error before anything is written; what a VocabularyMask throws passes on
  template <LogitType Logit, class... P>
  void inplace_update_logits(const Kokkos::View<Logit**, P...>& logits,
                             const StepRequests& requests,
                             const Vector<std::int32_t, memory_space>& row_status = {}) {
    update_logits<Logit>(rows_of<memory_space>(logits), requests, row_status);
  }

  /// Softmax with each request's temperature.
  /// @param logits [n, V], after inplace_update_logits
  /// @param probabilities [n, V] float32; may be exactly the logits
  /// @param row_status [n] or empty: nan_logit, positive_infinity, empty are ORed in
  /// @throws Error before anything is written
  template <LogitType Logit, class... P>
  void compute_probs_from_logits(const Kokkos::View<Logit**, P...>& logits,
                                 const StepRequests& requests,
                                 const Matrix<float, memory_space>& probabilities,
                                 const Vector<std::int32_t, memory_space>& row_status = {}) {
    compute_probabilities<Logit>(rows_of<memory_space>(logits), requests, probabilities,
                                 row_status);
  }

  /// Both in one: edits in place, then one read of the logits with mask and temperature, then what
  /// the outputs ask for. One upload; at most 4 launches for probabilities or tokens alone, one
  /// more where requests truncate, and one where the mask is stored; the same bits as the two calls
  /// above and Sampler::sample_from_logits. The mask is applied while reading, and stored only on
  /// request or where there is another one in `outputs.bitmask`. Raw log-probabilities cost one
  /// more read of the logits, before the edits, and the logits that are edited are kept; no copy is
  /// made of a row. A step that is prepared meanwhile is dropped by one that is processed here, and
  /// stays prepared where this one is refused.
  /// @param logits [n, V], n <= max_num_token, rows may be padded; edited in place
  /// @throws Error before anything is written; what a VocabularyMask or an EditHook throws passes
  /// on, also before anything is written. Where memory runs out nothing is prepared afterwards
  template <LogitType Logit, class... P>
  void process(const Kokkos::View<Logit**, P...>& logits, const StepRequests& requests,
               const StepOutputs<memory_space>& outputs, const StepOptions& options = {},
               const std::type_identity_t<LogitHook<ExecutionSpace, Logit>>& hook = {}) {
    process_step<Logit>(rows_of<memory_space>(logits), requests, outputs, options, hook);
  }

  /// The first half of `process`, for as long as the model still computes the logits: validates and
  /// flattens the requests and starts their one upload on an execution space instance of its own.
  /// The requests may go when it returns. A step that was prepared and not processed is dropped,
  /// also where this one is refused: the next process without requests must not take it for this
  /// one. Its blob is kept for the kernels of a graph that may have been replayed instead: the
  /// prepare after the next waits for all that the instance was given.
  /// Where a step needs more room than any before it, both blobs grow, so that it waits for all
  /// kernels, and nothing is allocated after the first step of a shape.
  /// It stages a uniform for every row: without `options.uniforms` each request has a history, and
  /// an id or a stream number.
  /// @param rows of the logits to come
  /// @throws Error before anything is staged; what a VocabularyMask throws passes on
  void prepare(std::int64_t rows, const StepRequests& requests, const StepOptions& options = {});

  /// The second half: waits on the device for the upload and launches. No decision that it makes on
  /// the host depends on device data, so that its launches can be captured in a graph.
  /// @param logits as many rows as were prepared
  /// @throws Error before anything is written; the step stays prepared. What `hook` throws passes
  /// on behind the edits
  template <LogitType Logit, class... P>
  void process(const Kokkos::View<Logit**, P...>& logits, const StepOutputs<memory_space>& outputs,
               const std::type_identity_t<LogitHook<ExecutionSpace, Logit>>& hook = {}) {
    process_prepared<Logit>(rows_of<memory_space>(logits), outputs, hook);
  }

  /// Bounds what a step may stage: at most so many biases and penalties together, each token of a
  /// row counted, those of edit hooks and of `min_tokens`, n-grams and bad words included. A step
  /// with more is refused, after hooks were called and before anything is written; no request is
  /// named, since all of them count. Default: none.
  /// @throws Error if the number is negative
  void set_max_edits(std::int64_t most);

  /// Most rows of one call.
  std::int64_t max_num_token() const { return m_max_num_token; }
  /// V.
  std::int64_t vocab_size() const { return m_vocab_size; }
  /// How many tokens exist.
  std::int64_t active_vocabulary() const { return m_active_vocabulary; }
  /// The instance that it was made with, on which it launches.
  const ExecutionSpace& execution_space() const { return m_space; }

  /// Bytes that the last call staged (and uploaded, where the device has memory of its own).
  std::size_t staged_bytes() const { return m_staged_bytes; }

  /// Bytes of staging memory held, host and device together.
  std::size_t staging_capacity() const;

 private:
  template <LogitType Logit>
  void update_logits(const Matrix<Logit, memory_space>& logits, const StepRequests& requests,
                     const Vector<std::int32_t, memory_space>& row_status);
  template <LogitType Logit>
  void compute_probabilities(const Matrix<Logit, memory_space>& logits,
                             const StepRequests& requests,
                             const Matrix<float, memory_space>& probabilities,
                             const Vector<std::int32_t, memory_space>& row_status);
  template <LogitType Logit>
  void process_step(const Matrix<Logit, memory_space>& logits, const StepRequests& requests,
                    const StepOutputs<memory_space>& outputs, const StepOptions& options,
                    const LogitHook<ExecutionSpace, Logit>& hook);
  template <LogitType Logit>
  void process_prepared(const Matrix<Logit, memory_space>& logits,
                        const StepOutputs<memory_space>& outputs,
                        const LogitHook<ExecutionSpace, Logit>& hook);
  void prepare_step(std::int64_t rows, const StepRequests& requests, bool draws,
                    const StepOptions& options);
  template <LogitType Logit>
  void edit_step(const Matrix<Logit, memory_space>& logits,
                 const StepOutputs<memory_space>& outputs,
                 const LogitHook<ExecutionSpace, Logit>& hook);
  template <LogitType Logit>
  LogitRows<Logit, memory_space> raw_rows(const Matrix<const Logit, memory_space>& logits) const;
  template <LogitType Logit>
  void read_raw(const Matrix<Logit, memory_space>& logits,
                const StepOutputs<memory_space>& outputs);
  template <LogitType Logit>
  void finish_step(const Matrix<Logit, memory_space>& logits,
                   const StepOutputs<memory_space>& outputs);
  template <LogitType Logit>
  void sample_step(const LogitRows<Logit, memory_space>& step, const RowCuts<memory_space>& cuts,
                   const StepOutputs<memory_space>& outputs);
  template <LogitType Logit>
  void score_raw(const LogitRows<Logit, memory_space>& step,
                 const StepOutputs<memory_space>& outputs);
  template <LogitType Logit>
  void write_step(const LogitRows<Logit, memory_space>& step, const RowCuts<memory_space>& cuts,
                  const StepOutputs<memory_space>& outputs);
  void check_step(std::int64_t rows, std::int64_t columns, const StepRequests& requests) const;

  ExecutionSpace m_space;
  std::int64_t m_max_num_token;
  std::int64_t m_vocab_size;
  std::int64_t m_active_vocabulary;
  EventTraceRecorder* m_trace_recorder;
  Workspace<memory_space> m_workspace;
  CutsWorkspace<memory_space> m_cuts;
  std::unique_ptr<PreparedStep<ExecutionSpace>> m_prepared;
  std::unique_ptr<RawStep<ExecutionSpace>> m_raw;  // none before it is asked for
  std::size_t m_staged_bytes = 0;
};

}  // namespace tokkos
