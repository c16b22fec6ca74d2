// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/kernels/verify_greedy.hpp>

#include "engine/check_engine.hpp"
#include "engine/staged_trees.hpp"
#include "kernels/instantiate.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tokkos {

namespace {

/// Checks the host's part of what draft tokens were drawn from.
template <class Space>
void check_rows_of_nodes(const DraftProbabilities<Space>& drafts, std::int64_t nodes,
                         std::span<const std::int32_t> roots) {
  const auto& rows = drafts.row_of_node;
  if (rows.empty()) return;
  if (static_cast<std::int64_t>(rows.size()) != nodes) {
    throw Error("row_of_node.size", std::nullopt, std::to_string(rows.size()), to_text(nodes));
  }
  const auto count = static_cast<std::int64_t>(drafts.rows.extent(0));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!roots.empty() && roots.front() == static_cast<std::int32_t>(i)) {
      roots = roots.subspan(1);
      continue;
    }
    require(rows[i] >= -1 && rows[i] < count, "row_of_node", static_cast<std::int64_t>(i), rows[i],
            "a row of the draft distributions, or -1");
  }
}

/// Checks what a verifier is made with and returns its vocabulary.
std::int64_t checked_vocabulary(std::int64_t max_num_node, std::int64_t vocab_size) {
  check_kokkos();
  require(max_num_node >= 0 && max_num_node <= 2147483647, "max_num_node", std::nullopt,
          max_num_node, "a number in [0, 2147483647]");
  require(vocab_size >= 1 && vocab_size <= max_active_vocabulary, "vocab_size", std::nullopt,
          vocab_size, "a vocabulary in [1, 524287] (larger vocabularies are sharded)");
  return vocab_size;
}

}  // namespace

template <class ExecutionSpace>
DraftVerifier<ExecutionSpace>::DraftVerifier(const ExecutionSpace& space, std::int64_t max_num_node,
                                             std::int64_t vocab_size,
                                             std::optional<std::int64_t> active_vocabulary,
                                             EventTraceRecorder* trace_recorder)
    : m_space(space),
      m_max_num_node(max_num_node),
      m_vocab_size(checked_vocabulary(max_num_node, vocab_size)),
      m_active_vocabulary(active_vocabulary.value_or(vocab_size)),
      m_trace_recorder(trace_recorder) {
  check_active_vocabulary(m_active_vocabulary, vocab_size, 1);
}

template <class ExecutionSpace>
void DraftVerifier<ExecutionSpace>::set_shared_sums(int count) {
  require(count >= 0 && count <= 1000, "shared_sums", std::nullopt, count, "a number in [0, 1000]");
  m_shared_sums = count;
}

template <class ExecutionSpace>
template <class T>
auto DraftVerifier<ExecutionSpace>::stage(std::span<const T> values) {
  const auto slot = m_staging.template add<T>(values.size());
  std::ranges::copy(values, m_staging.host(slot).begin());
  return slot;
}

template <class ExecutionSpace>
typename DraftVerifier<ExecutionSpace>::StagedTrees DraftVerifier<ExecutionSpace>::stage_trees(
    std::span<const DraftTree> trees, TokenTreeArrays arrays, std::size_t more_bytes) {
  StagedTrees staged;
  staged.arrays = std::move(arrays);
  staged.chains = std::ranges::all_of(trees, &DraftTree::is_chain);
  const std::size_t nodes = staged.nodes();
  const std::size_t batch = staged.batch();
  const auto room = [](std::size_t count) {
    return Staging<ExecutionSpace>::template room<std::int32_t>(count);
  };
  m_staging.begin(m_space, 3 * room(nodes) + room(batch + 1) + room(4 * batch) + more_bytes);
  staged.draft_tokens = stage(std::span<const TokenId>(staged.arrays.draft_tokens));
  if (staged.chains) {
    staged.tree_begin = m_staging.template add<std::int32_t>(batch + 1);
    const auto begins = m_staging.host(staged.tree_begin);
    std::ranges::copy(staged.arrays.root, begins.begin());
    begins[batch] = static_cast<std::int32_t>(nodes);
  } else {
    staged.first_child = stage(std::span<const std::int32_t>(staged.arrays.first_child));
    staged.next_sibling = stage(std::span<const std::int32_t>(staged.arrays.next_sibling));
  }
  staged.results = m_staging.template add<std::int32_t>(4 * batch);
  const auto results = m_staging.host(staged.results);
  std::ranges::fill(results, 0);
  if (!staged.chains) std::ranges::copy(staged.arrays.root, results.begin());
  return staged;
}

template <class ExecutionSpace>
TokenTreeArrays DraftVerifier<ExecutionSpace>::checked_arrays(
    std::span<const DraftTree> trees, std::span<const std::string> request_ids) const {
  check_kokkos();
  auto nodes = static_cast<std::int64_t>(trees.size());  // the roots
  for (std::size_t i = 0; i < trees.size(); ++i) {
    validate(trees[i], m_vocab_size, static_cast<std::int64_t>(i));
    nodes += static_cast<std::int64_t>(trees[i].size());
  }
  if (nodes > m_max_num_node) {
    throw Error("nodes", std::nullopt, to_text(nodes),
                "at most max_num_node = " + to_text(m_max_num_node));
  }
  if (!request_ids.empty() && request_ids.size() != trees.size()) {
    throw Error("request_ids.size", std::nullopt, std::to_string(request_ids.size()),
                std::to_string(trees.size()));
  }
  return flatten(trees);
}

template <class ExecutionSpace>
std::vector<VerifiedDraft> DraftVerifier<ExecutionSpace>::collect(std::span<const DraftTree> trees,
                                                                  const StagedTrees& staged) {
  m_staging.download(m_space, staged.results);
  const auto host = m_staging.host(staged.results);
  const std::size_t batch = staged.batch();
  std::vector<VerifiedDraft> verified(batch);
  for (std::size_t b = 0; b < batch; ++b) {
    const std::int32_t root = staged.chains ? 0 : staged.arrays.root[b];
    verified[b].accepted_nodes = trees[b].path(host[b] - root - 1);
    for (const std::int32_t node : verified[b].accepted_nodes) {
      verified[b].tokens.push_back(trees[b].token_ids[static_cast<std::size_t>(node)]);
    }
    const TokenId bonus = host[2 * batch + b];
    if (bonus >= 0) verified[b].tokens.push_back(bonus);
    verified[b].bonus_token = bonus;
    verified[b].status = host[3 * batch + b];
  }
  AcceptanceStatistics counted = m_statistics;  // all trees are counted, or none
  for (std::size_t b = 0; b < batch; ++b) {
    counted.add(trees[b], verified[b].accepted_nodes, verified[b].bonus_token >= 0);
  }
  m_statistics = std::move(counted);
  return verified;
}

template <class ExecutionSpace>
std::vector<VerifiedDraft> DraftVerifier<ExecutionSpace>::verify(
    const Matrix<const float, memory_space>& model_probs,
    const DraftProbabilities<memory_space>& drafts, std::span<const DraftTree> trees,
    const VerifyUniforms& uniforms, std::span<const std::string> request_ids) {
  TokenTreeArrays arrays = checked_arrays(trees, request_ids);
  const std::size_t nodes = arrays.draft_tokens.size();
  const std::size_t batch = trees.size();
  const auto rows = static_cast<std::int64_t>(nodes);
  check_matrix("model_probs", model_probs, rows, m_vocab_size);
  if (drafts.rows.extent(0) > 0) {
    const auto stored = static_cast<std::int64_t>(drafts.rows.extent(0));
    // Without nodes a list of their rows is empty as well, and any number may be stored.
    const bool by_node = drafts.row_of_node.empty() && rows > 0;
    check_matrix("draft_probs", drafts.rows, by_node ? rows : stored, m_vocab_size);
  }
  check_rows_of_nodes(drafts, rows, arrays.root);
  check_uniforms("uniforms.nodes", uniforms.nodes, rows, arrays.root);
  check_uniforms("uniforms.bonus", uniforms.bonus, static_cast<std::int64_t>(batch));
  const TracedStage stage_of_trace(m_trace_recorder, "draft verification", request_ids);
  if (batch == 0) return {};

  const auto room = [](std::size_t count) {
    return Staging<ExecutionSpace>::template room<float>(count);
  };
  const std::size_t masses = drafts.without_replacement ? nodes : 0;
  const bool shared =
      m_shared_sums > 0 && shares_trees(m_space, static_cast<std::int64_t>(batch), m_vocab_size);
  const auto sums = static_cast<std::size_t>(m_shared_sums * chunk_count(m_vocab_size));
  const std::size_t shared_room =
      Staging<ExecutionSpace>::template room<PausedWalk>(batch) + room(2 * batch * sums);
  const StagedTrees staged =
      stage_trees(trees, std::move(arrays),
                  3 * room(nodes) + room(batch) + room(2 * masses) + (shared ? shared_room : 0));
  const auto node_uniforms = stage(std::span<const float>(uniforms.nodes));
  const auto bonus_uniforms = stage(std::span<const float>(uniforms.bonus));
  const auto row_of_node = stage(drafts.row_of_node);
  m_staging.upload(m_space);
  // What follows is scratch.
  const auto residual_sums = m_staging.template add<float>(nodes);
  const auto draft_masses = m_staging.template add<std::int64_t>(masses);
  const auto paused = m_staging.template add<PausedWalk>(shared ? batch : 0);
  const auto chunk_masses = m_staging.template add<std::int64_t>(shared ? batch * sums : 0);

  DraftDistributions<memory_space> given;
  given.draft_probs = drafts.rows;
  given.draft_tokens = m_staging.on_device(staged.draft_tokens);
  given.model_probs = model_probs;
  given.active_vocabulary = m_active_vocabulary;
  given.uniforms = m_staging.on_device(node_uniforms);
  given.bonus_uniforms = m_staging.on_device(bonus_uniforms);
  if (!drafts.row_of_node.empty()) given.draft_row = m_staging.on_device(row_of_node);
  given.without_replacement = drafts.without_replacement;
  verify_draft_trees(
      m_space, given, staged.on_device(m_staging),
      {staged.result(m_staging, 1), staged.result(m_staging, 2), m_staging.on_device(residual_sums),
       staged.result(m_staging, 3), m_staging.on_device(draft_masses), m_staging.on_device(paused),
       m_staging.on_device(chunk_masses, sums)});
  return collect(trees, staged);
}

template <class ExecutionSpace>
template <LogitType Logit>
std::vector<VerifiedDraft> DraftVerifier<ExecutionSpace>::verify_greedy(
    const Matrix<const Logit, memory_space>& logits, std::span<const DraftTree> trees,
    std::span<const std::string> request_ids) {
  TokenTreeArrays arrays = checked_arrays(trees, request_ids);
  check_matrix("logits", logits, static_cast<std::int64_t>(arrays.draft_tokens.size()),
               m_vocab_size);
  const TracedStage stage_of_trace(m_trace_recorder, "draft verification", request_ids);
  if (trees.empty()) return {};
  const std::size_t nodes = arrays.draft_tokens.size();
  const bool shared = shares_rows(m_space, static_cast<std::int64_t>(nodes), m_vocab_size);
  const auto chunks = static_cast<std::size_t>(chunk_count(m_vocab_size));
  const std::size_t maxima = shared ? nodes * chunks : 0;
  const StagedTrees staged = stage_trees(
      trees, std::move(arrays), Staging<ExecutionSpace>::template room<std::int64_t>(maxima));
  m_staging.upload(m_space);
  const auto chunk_maxima = m_staging.template add<std::int64_t>(maxima);  // scratch
  LogitRows<Logit, memory_space> rows;
  rows.logits = logits;
  rows.active_vocabulary = m_active_vocabulary;
  GreedyTrees<memory_space> result{staged.result(m_staging, 1), staged.result(m_staging, 2),
                                   staged.result(m_staging, 3)};
  if (shared) result.chunk_maxima = m_staging.on_device(chunk_maxima, chunks);
  tokkos::verify_greedy(m_space, rows, m_staging.on_device(staged.draft_tokens),
                        staged.on_device(m_staging), result);
  return collect(trees, staged);
}

#define TOKKOS_INSTANTIATE_CLASS(Space) template class DraftVerifier<Space>;
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE_CLASS)

#define TOKKOS_INSTANTIATE(Space, Logit)                                          \
  template std::vector<VerifiedDraft> DraftVerifier<Space>::verify_greedy<Logit>( \
      const Matrix<const Logit, MemoryOf<Space>>&, std::span<const DraftTree>,    \
      std::span<const std::string>);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
