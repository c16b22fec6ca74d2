// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/logit_type.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/engine/acceptance_statistics.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>
#include <tokkos/engine/staging.hpp>
#include <tokkos/engine/verified_draft.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace tokkos {

/// Uniforms of a verification step.
struct VerifyUniforms {
  std::vector<float> nodes;  ///< [nodes], roots included (not read)
  std::vector<float> bonus;  ///< [requests]
};

/// Philox uniforms for a step whose rows are the roots and nodes of its draft trees, in their order
/// (or the roots alone, in a step of its own for this): node j of a request has the counter
/// (generated tokens + depth, j, verify, stream), its bonus token (generated tokens, 0, bonus,
/// stream); the stream is as of step_uniforms.
/// @throws Error if the step is not valid, its rows are others, or a request has neither a stream
///   number nor an id
VerifyUniforms verify_uniforms(const StepRequests& requests);

/// The distributions that the draft tokens of a batch were drawn from.
template <class MemorySpace>
struct DraftProbabilities {
  /// [rows, V]; empty: every token was chosen, not drawn (n-grams, top-k), and nothing is stored.
  /// All V columns are probabilities, whatever the active vocabulary: 0 in padding.
  Matrix<const float, MemorySpace> rows = {};
  /// [nodes], roots included (not read): row of each node, -1 for a token that was chosen. Empty:
  /// node i of the batch has row i.
  std::span<const std::int32_t> row_of_node = {};
  /// Whether siblings that share a row were drawn from it without replacement (verify_draft_trees).
  bool without_replacement = false;
};

/// Verifies a batch of draft trees and draws the bonus tokens. The nodes of the batch are, request
/// after request, the root (the last committed token) and then its draft nodes in their order: rows
/// of a step whose draft_token_indices are -1, 0, 1, ... One upload and one download per call; of
/// chains no links are uploaded. One object is for one thread at a time; one that was moved from
/// may only be destroyed or assigned to.
template <class ExecutionSpace>
class DraftVerifier {
 public:
  /// Where the Views of a call lie.
  using memory_space = MemoryOf<ExecutionSpace>;

  /// @param max_num_node most nodes of one call, one root per request included
  /// @param vocab_size V in [1, 2^19)
  /// @param active_vocabulary tokens at or past it do not exist: the target's columns of them are
  ///   not read, and a draft of one is rejected as one of probability 0; in [1, V], default V
  /// @throws Error if a number is out of range or Kokkos is not initialized
  DraftVerifier(const ExecutionSpace& space, std::int64_t max_num_node, std::int64_t vocab_size,
                std::optional<std::int64_t> active_vocabulary = std::nullopt,
                EventTraceRecorder* trace_recorder = nullptr);

  /// Verifies by the lossless rule and waits for the result.
  /// @param model_probs [nodes, V] the target's distribution after each node; not written
  /// @param drafts what each node's token was drawn from, or {}: every token was chosen, not drawn;
  ///   q = 0 at a node's token says that it could not be drawn, and it is accepted whenever the
  ///   target allows it
  /// @param trees one per request; an empty tree just draws the bonus token
  /// @param uniforms in [0, 1), independent of the drafts
  /// @param request_ids for the trace, may be empty
  /// @throws Error before anything is launched
  std::vector<VerifiedDraft> verify(const Matrix<const float, memory_space>& model_probs,
                                    const DraftProbabilities<memory_space>& drafts,
                                    std::span<const DraftTree> trees,
                                    const VerifyUniforms& uniforms,
                                    std::span<const std::string> request_ids = {});

  /// The same with a View [nodes, V] of a row for every node (roots' are not read), or an empty
  /// View: all were chosen.
  template <class Rows>
  requires std::is_convertible_v<const Rows&, Matrix<const float, memory_space>>
      std::vector<VerifiedDraft> verify(const Matrix<const float, memory_space>& model_probs,
                                        const Rows& draft_probs, std::span<const DraftTree> trees,
                                        const VerifyUniforms& uniforms,
                                        std::span<const std::string> request_ids = {}) {
    return verify(model_probs, DraftProbabilities<memory_space>{draft_probs}, trees, uniforms,
                  request_ids);
  }

  /// Verifies for greedy decoding: accepts the argmax at every node, bonus token included; see
  /// verify_greedy. Waits for the result.
  /// @param logits [nodes, V] the target's logits after each node, edits and masks applied: of a
  ///   step that was processed with StepOptions::store_mask, if a request has a mask
  /// @throws Error before anything is launched
  template <LogitType Logit>
  std::vector<VerifiedDraft> verify_greedy(const Matrix<const Logit, memory_space>& logits,
                                           std::span<const DraftTree> trees,
                                           std::span<const std::string> request_ids = {});

  /// The same with a View of any layout and of logits that may be written.
  template <class Element, class... P>
  std::vector<VerifiedDraft> verify_greedy(const Kokkos::View<Element**, P...>& logits,
                                           std::span<const DraftTree> trees,
                                           std::span<const std::string> request_ids = {}) {
    using Logit = std::remove_const_t<Element>;
    static_assert(LogitType<Logit>, "logits are float, tokkos::bfloat16 or tokkos::float16");
    const Matrix<const Logit, memory_space> rows = rows_of<memory_space>(logits);
    return verify_greedy<Logit>(rows, trees, request_ids);
  }

  /// How many sums over the vocabulary of each tree the whole device makes in `verify`, where trees
  /// are too few to keep it busy; those that come later in a tree's walk its own team makes. Each
  /// costs two launches, needed or not, so that the best number is the device's and the trees'
  /// (docs/decisions/0010). The result does not depend on it. Chains take two at most.
  /// @param count in [0, 1000], 0: none. At first shared_sums
  /// @throws Error
  void set_shared_sums(int count);

  /// What was tried and accepted at each depth since it was made or reset.
  const AcceptanceStatistics& statistics() const { return m_statistics; }
  /// Begins to count anew.
  void reset_statistics() { m_statistics = {}; }

  /// Most nodes of one call.
  std::int64_t max_num_node() const { return m_max_num_node; }
  /// V.
  std::int64_t vocab_size() const { return m_vocab_size; }
  /// Tokens at or past it do not exist.
  std::int64_t active_vocabulary() const { return m_active_vocabulary; }
  /// Bytes that the last call staged.
  std::size_t staged_bytes() const { return m_staging.size(); }

 private:
  struct StagedTrees;
  template <class T>
  auto stage(std::span<const T> values);
  TokenTreeArrays checked_arrays(std::span<const DraftTree> trees,
                                 std::span<const std::string> request_ids) const;
  StagedTrees stage_trees(std::span<const DraftTree> trees, TokenTreeArrays arrays,
                          std::size_t more_bytes);
  std::vector<VerifiedDraft> collect(std::span<const DraftTree> trees, const StagedTrees& staged);

  ExecutionSpace m_space;
  std::int64_t m_max_num_node;
  std::int64_t m_vocab_size;
  std::int64_t m_active_vocabulary;
  EventTraceRecorder* m_trace_recorder;
  Staging<ExecutionSpace> m_staging;
  AcceptanceStatistics m_statistics;
  int m_shared_sums = shared_sums;
};

}  // namespace tokkos
