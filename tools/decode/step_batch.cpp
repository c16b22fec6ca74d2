// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/step_batch.hpp"

#include <tokkos/numerics/philox.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <utility>

namespace tokkos::tools {

void StepBatch::begin(std::span<DecodeRequest> requests) {
  std::vector<DecodeRequest*> active;
  m_states.clear();
  m_ids.clear();
  for (DecodeRequest& request : requests) {
    if (request.finished) continue;
    active.push_back(&request);
    m_states.push_back({&request.history, request.constraint ? &*request.constraint : nullptr});
    m_ids.push_back(request.id);
  }
  if (active != m_active) {  // else they are there, with their lists of biases
    m_active = std::move(active);
    m_configs.clear();
    for (const DecodeRequest* request : m_active) m_configs.push_back(request->config);
  }
  m_trees.assign(m_active.size(), {});
  m_nodes = {-1};
}

void StepBatch::add_children(std::span<const std::int32_t> parents,
                             std::span<const TokenId> tokens) {
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t p = 0; p < parents.size(); ++p) {
      m_trees[i].parents.push_back(parents[p]);
      m_trees[i].token_ids.push_back(std::max(tokens[i * parents.size() + p], 0));
    }
  }
}

std::vector<float> StepBatch::draft_uniforms(std::int32_t first, std::size_t count,
                                             std::int32_t depth) const {
  std::vector<float> uniforms;
  for (const DecodeRequest* request : m_active) {
    const std::uint32_t stream = request_stream(request->id);
    const auto position = static_cast<std::uint32_t>(request->history.generated().size()) +
                          static_cast<std::uint32_t>(depth);
    for (std::size_t i = 0; i < count; ++i) {
      const auto node = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(i);
      uniforms.push_back(
          philox_uniform(request->config.seed, position, node, Purpose::draft, stream));
    }
  }
  return uniforms;
}

StepRequests StepBatch::rows() const {
  StepRequests step;
  step.generation_configs = m_configs;
  step.sequence_states = m_states;
  step.request_ids = m_ids;
  return step;
}

StepRequests StepBatch::rows(std::vector<std::int32_t> nodes) {
  m_nodes = std::move(nodes);
  m_cum_num_token.clear();
  for (std::size_t i = 0; i <= size(); ++i) {
    m_cum_num_token.push_back(static_cast<std::int32_t>(i * m_nodes.size()));
  }
  m_indices.assign(size(), m_nodes);
  StepRequests step = rows();
  step.cum_num_token = m_cum_num_token;
  step.draft_trees = m_trees;
  step.draft_token_indices = m_indices;
  return step;
}

// The last `length` tokens before the row's next one, oldest first; before the prompt stands a
// paragraph break.
std::vector<TokenId> StepBatch::context(std::size_t request, std::int32_t node,
                                        std::size_t length) const {
  std::vector<TokenId> tokens;
  const DraftTree& tree = m_trees[request];
  for (; node >= 0 && tokens.size() < length; node = tree.parents[static_cast<std::size_t>(node)]) {
    tokens.push_back(tree.token_ids[static_cast<std::size_t>(node)]);
  }
  const TokenHistory& history = m_active[request]->history;
  for (const auto part : {history.generated(), history.prompt()}) {
    for (std::size_t i = part.size(); i > 0 && tokens.size() < length; --i) {
      tokens.push_back(part[i - 1]);
    }
  }
  if (tokens.size() < length) tokens.push_back(paragraph_break);
  std::ranges::reverse(tokens);
  return tokens;
}

void StepBatch::for_each_context(
    std::size_t length,
    const std::function<void(std::size_t, std::span<const TokenId>)>& body) const {
  const std::size_t nodes = m_nodes.size();
  const Kokkos::DefaultHostExecutionSpace host;
  Kokkos::parallel_for(
      "tokkos::decode::score",
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(host, 0, size() * nodes),
      [&, this](const std::size_t row) {
        body(row, context(row / nodes, m_nodes[row % nodes], length));
      });
  host.fence("tokkos::decode::score");
}

void StepBatch::score(const NgramModel& model, float* logits) const {
  const auto vocabulary = static_cast<std::size_t>(model.vocabulary());
  for_each_context(model.order() - 1, [&](std::size_t row, std::span<const TokenId> context) {
    model.score(context, {logits + row * vocabulary, vocabulary});
  });
}

}  // namespace tokkos::tools
