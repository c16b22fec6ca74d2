// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>
#include <tokkos/engine/staging.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tokkos {

/// What verification says about one request.
struct VerifiedDraft {
  /// Accepted draft nodes, from the first after the committed tokens on.
  std::vector<std::int32_t> accepted_nodes;
  /// The tokens to emit: those of the accepted nodes, then the bonus token (absent if unusable).
  std::vector<TokenId> tokens;
  /// RowStatus bits of the tree.
  std::int32_t status = 0;
};

/// Uniforms of a verification step.
struct VerifyUniforms {
  std::vector<float> nodes;  ///< [nodes], roots included (not read)
  std::vector<float> bonus;  ///< [requests]
};

/// Philox uniforms for a step whose rows are the roots and nodes of its draft trees: node j of a
/// request has the counter (generated tokens + depth, j, verify, hash of the id), its bonus token
/// (generated tokens, 0, bonus, hash of the id).
/// @throws Error if the step is not valid or has no request ids
VerifyUniforms verify_uniforms(const StepRequests& requests);

/// Verifies a batch of draft trees by the lossless rule and draws the bonus tokens. One object is
/// for one thread at a time; one that was moved from may only be destroyed or assigned to.
template <class ExecutionSpace>
class DraftVerifier {
 public:
  using memory_space = MemoryOf<ExecutionSpace>;

  /// @param max_num_node most nodes of one call, one root per request included
  /// @param vocab_size V in [1, 2^19)
  /// @throws Error if a number is out of range or Kokkos is not initialized
  DraftVerifier(const ExecutionSpace& space, std::int64_t max_num_node, std::int64_t vocab_size,
                EventTraceRecorder* trace_recorder = nullptr);

  /// Verifies and waits for the result. The nodes of the batch are, request after request, the root
  /// (the last committed token) and then its draft nodes.
  /// @param model_probs [nodes, V] the target's distribution after each node; not written
  /// @param draft_probs [nodes, V] what each node's token was drawn from; roots' rows are not read.
  /// A
  ///   deterministic drafter (n-grams, top-k) passes a 1 at the node's token and 0 elsewhere: q = 0
  ///   there says that the token could not be drawn, and it is accepted whenever the target allows
  ///   it
  /// @param trees one per request; an empty tree just draws the bonus token
  /// @param uniforms in [0, 1), independent of the drafts
  /// @param request_ids for the trace, may be empty
  /// @throws Error before anything is launched
  std::vector<VerifiedDraft> verify(const Matrix<const float, memory_space>& model_probs,
                                    const Matrix<const float, memory_space>& draft_probs,
                                    std::span<const DraftTree> trees,
                                    const VerifyUniforms& uniforms,
                                    std::span<const std::string> request_ids = {});

  std::int64_t max_num_node() const { return m_max_num_node; }
  std::int64_t vocab_size() const { return m_vocab_size; }
  std::size_t staged_bytes() const { return m_staging.size(); }

 private:
  ExecutionSpace m_space;
  std::int64_t m_max_num_node;
  std::int64_t m_vocab_size;
  EventTraceRecorder* m_trace_recorder;
  Staging<ExecutionSpace> m_staging;
};

}  // namespace tokkos
