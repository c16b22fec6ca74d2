// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>
#include <tokkos/engine/staging.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/truncate.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/numerics/philox.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace tokkos {

/// The uniforms of a step, one per row: Philox with the request's seed as key and the counter
/// (generated tokens + depth of the row's draft node, draw, purpose, stream), where draw counts the
/// request's earlier rows of the same node (of the last committed token without drafts). The stream
/// is the request's own number, GenerationConfig::stream, or else the hash of its id. They do not
/// depend on the place in the batch or on the other requests. Siblings share their position's
/// uniform: at most one of them is kept, and the token after a path is then the same with drafts as
/// without. Requests with the same stream and seed share their uniforms.
/// @throws Error if the step does not have `rows` rows, is not valid, or a request has neither a
/// stream number nor an id
std::vector<float> step_uniforms(const StepRequests& requests, std::int64_t rows,
                                 Purpose purpose = Purpose::sample);

/// Draws one token per row: multinomial from given uniforms or from Philox, greedy where the
/// temperature is at most 1e-5. Asynchronous, but for a call that comes while a device still reads
/// what the one before it staged: it waits for that. One object is for one thread at a time;
/// one that was moved from may only be destroyed or assigned to.
template <class ExecutionSpace>
class Sampler {
 public:
  /// Where the Views of a call lie.
  using memory_space = MemoryOf<ExecutionSpace>;

  /// Parameters as of LogitProcessor.
  Sampler(const ExecutionSpace& space, std::int64_t max_num_token, std::int64_t vocab_size,
          std::optional<std::int64_t> active_vocabulary = std::nullopt,
          EventTraceRecorder* trace_recorder = nullptr);

  /// Draws from softmax(logits / temperature) of each row, truncated as its request says, without
  /// writing probabilities. The tokens alone: LogitProcessor::process gives log-probabilities, top
  /// tokens and several outputs of one read; of logits that are edited already `measure` and
  /// `log_probabilities` give those of any tokens (docs/log_probabilities.md).
  /// @param logits [n, V], after LogitProcessor::inplace_update_logits
  /// @param requests their temperatures and limits, and seeds and ids for Philox
  /// @param tokens [n], written: -1 for an unusable row
  /// @param uniforms [n] in [0, 1); empty: step_uniforms
  /// @param row_status [n] or empty; bits are ORed in (clear it between steps)
  /// @throws Error before anything is written
  template <class Element, class... P>
  void sample_from_logits(const Kokkos::View<Element**, P...>& logits, const StepRequests& requests,
                          const Vector<TokenId, memory_space>& tokens,
                          std::span<const float> uniforms = {},
                          const Vector<std::int32_t, memory_space>& row_status = {},
                          GreedyTies ties = GreedyTies::uniform) {
    using Logit = std::remove_const_t<Element>;
    static_assert(LogitType<Logit>, "logits are float, tokkos::bfloat16 or tokkos::float16");
    sample<Logit>(rows_of<memory_space>(logits), requests, tokens, uniforms, row_status, ties);
  }

  /// Draws from given probabilities (see the kernel sample_from_probabilities).
  void sample_from_probabilities(const Matrix<const float, memory_space>& probabilities,
                                 std::span<const float> uniforms,
                                 const Vector<TokenId, memory_space>& tokens,
                                 const Vector<std::int32_t, memory_space>& row_status = {});

  /// Bytes that the last call staged.
  std::size_t staged_bytes() const { return m_staging.size(); }

 private:
  template <LogitType Logit>
  void sample(const Matrix<const Logit, memory_space>& logits, const StepRequests& requests,
              const Vector<TokenId, memory_space>& tokens, std::span<const float> uniforms,
              const Vector<std::int32_t, memory_space>& row_status, GreedyTies ties);

  ExecutionSpace m_space;
  std::int64_t m_max_num_token;
  std::int64_t m_vocab_size;
  std::int64_t m_active_vocabulary;
  EventTraceRecorder* m_trace_recorder;
  Workspace<memory_space> m_workspace;
  CutsWorkspace<memory_space> m_cuts;
  Staging<ExecutionSpace> m_staging;
};

}  // namespace tokkos
