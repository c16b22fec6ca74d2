// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/kernels/verify_draft_trees.hpp>
#include <tokkos/numerics/philox.hpp>

#include "engine/check_engine.hpp"
#include "engine/uniforms.hpp"
#include "kernels/instantiate.hpp"

#include <algorithm>

namespace tokkos {

VerifyUniforms verify_uniforms(const StepRequests& requests) {
  const auto& cum = requests.cum_num_token;
  const auto rows =
      cum && !cum->empty() ? std::int64_t{cum->back()} : static_cast<std::int64_t>(requests.size());
  validate(requests, rows, max_vocabulary);
  check_request_ids(requests);
  VerifyUniforms uniforms;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto generated = static_cast<std::uint32_t>(generated_tokens(requests, i));
    const std::uint32_t stream = request_stream(requests.request_ids[i]);
    const std::uint64_t seed = requests.generation_configs[i].seed;
    uniforms.nodes.push_back(0.0f);  // the root's
    const DraftTree none;
    const DraftTree& tree = requests.draft_trees ? (*requests.draft_trees)[i] : none;
    const std::vector<std::int32_t> depths = tree.depths();
    for (std::size_t j = 0; j < tree.size(); ++j) {
      const std::uint32_t position = generated + static_cast<std::uint32_t>(depths[j]);
      uniforms.nodes.push_back(
          philox_uniform(seed, position, static_cast<std::uint32_t>(j), Purpose::verify, stream));
    }
    uniforms.bonus.push_back(philox_uniform(seed, generated, 0, Purpose::bonus, stream));
  }
  return uniforms;
}

template <class ExecutionSpace>
DraftVerifier<ExecutionSpace>::DraftVerifier(const ExecutionSpace& space, std::int64_t max_num_node,
                                             std::int64_t vocab_size,
                                             EventTraceRecorder* trace_recorder)
    : m_space(space),
      m_max_num_node(max_num_node),
      m_vocab_size(checked_active_vocabulary(max_num_node, vocab_size, std::nullopt)),
      m_trace_recorder(trace_recorder) {}

template <class ExecutionSpace>
std::vector<VerifiedDraft> DraftVerifier<ExecutionSpace>::verify(
    const Matrix<const float, memory_space>& model_probs,
    const Matrix<const float, memory_space>& draft_probs, std::span<const DraftTree> trees,
    const VerifyUniforms& uniforms, std::span<const std::string> request_ids) {
  check_kokkos();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    validate(trees[i], m_vocab_size, static_cast<std::int64_t>(i));
  }
  const TokenTreeArrays arrays = flatten(trees);
  const std::size_t nodes = arrays.draft_tokens.size();
  const std::size_t batch = trees.size();
  const auto rows = static_cast<std::int64_t>(nodes);
  if (rows > m_max_num_node) {
    throw Error("nodes", std::nullopt, to_text(rows),
                "at most max_num_node = " + to_text(m_max_num_node));
  }
  check_matrix("model_probs", model_probs, rows, m_vocab_size);
  check_matrix("draft_probs", draft_probs, rows, m_vocab_size);
  check_uniforms("uniforms.nodes", uniforms.nodes, rows, arrays.root);
  check_uniforms("uniforms.bonus", uniforms.bonus, static_cast<std::int64_t>(batch));
  if (!request_ids.empty() && request_ids.size() != batch) {
    throw Error("request_ids.size", std::nullopt, std::to_string(request_ids.size()),
                std::to_string(batch));
  }
  const TracedStage stage(m_trace_recorder, "draft verification", request_ids);
  std::vector<VerifiedDraft> verified(batch);
  if (batch == 0) return verified;

  const auto room = [this](std::size_t count) { return m_staging.template room<float>(count); };
  m_staging.begin(m_space, 5 * room(nodes) + 5 * room(batch));
  const auto add = [this](const auto& array) {
    using T = typename std::decay_t<decltype(array)>::value_type;
    const auto slot = m_staging.template add<T>(array.size());
    std::ranges::copy(array, m_staging.host(slot).begin());
    return slot;
  };
  const auto draft_tokens = add(arrays.draft_tokens);
  const auto first_child = add(arrays.first_child);
  const auto next_sibling = add(arrays.next_sibling);
  const auto node_uniforms = add(uniforms.nodes);
  const auto bonus_uniforms = add(uniforms.bonus);
  const auto residual_sums = m_staging.template add<float>(nodes);
  // One array for all results, so that one download brings them: end nodes, accepted, bonus,
  // status.
  const auto results = m_staging.template add<std::int32_t>(4 * batch);
  std::ranges::fill(m_staging.host(residual_sums), 0.0f);
  std::ranges::fill(m_staging.host(results), 0);
  std::ranges::copy(arrays.root, m_staging.host(results).begin());
  m_staging.upload(m_space);

  const auto result = m_staging.on_device(results);
  const auto part = [&](std::size_t i) {
    return vector_of<std::int32_t, memory_space>(result.data() + i * batch, batch);
  };
  verify_draft_trees(m_space,
                     {draft_probs, m_staging.on_device(draft_tokens), model_probs,
                      m_staging.on_device(node_uniforms), m_staging.on_device(bonus_uniforms)},
                     {m_staging.on_device(first_child), m_staging.on_device(next_sibling), part(0)},
                     {part(1), part(2), m_staging.on_device(residual_sums), part(3)});
  m_staging.download(m_space, results);

  const auto host = m_staging.host(results);
  for (std::size_t b = 0; b < batch; ++b) {
    verified[b].accepted_nodes = trees[b].path(host[b] - arrays.root[b] - 1);
    for (const std::int32_t node : verified[b].accepted_nodes) {
      verified[b].tokens.push_back(trees[b].token_ids[static_cast<std::size_t>(node)]);
    }
    const TokenId bonus = host[2 * batch + b];
    if (bonus >= 0) verified[b].tokens.push_back(bonus);
    verified[b].status = host[3 * batch + b];
  }
  return verified;
}

#define TOKKOS_INSTANTIATE(Space) template class DraftVerifier<Space>;
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
