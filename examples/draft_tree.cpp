// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
// A draft tree of one request, verified losslessly. The drafter proposed 3 and 6 as the next token,
// and after 3 the token 5; it chose each without drawing (n-grams, top-k), so there are no draft
// distributions to store.
#include <tokkos/tokkos.hpp>

#include <array>
#include <cstdint>
#include <iostream>
#include <string>

int main() {
  const Kokkos::ScopeGuard kokkos;
  using Space = Kokkos::DefaultExecutionSpace;
  constexpr int vocabulary = 8;
  // Nodes of the batch: the root (the last committed token), then the draft nodes. These are links
  // as xgrammar and SGLang keep them (first child, next sibling, -1 for none; int32 or int64); an
  // engine that keeps parents writes DraftTree{.token_ids = {3, 5, 6}, .parents = {-1, 0, -1}}.
  constexpr int nodes = 4;
  // begin tree
  const std::array<std::int64_t, nodes> tokens{7, 3, 5, 6};
  const std::array<std::int64_t, nodes> first_child{1, 2, -1, -1}, next_sibling{-1, 3, -1, -1};
  const tokkos::DraftTree tree =
      tokkos::draft_tree_of_links(tokens, first_child, next_sibling, vocabulary);
  // end tree

  const Kokkos::View<float**, Kokkos::LayoutRight, Space> model("model", nodes, vocabulary);
  const auto model_host = Kokkos::create_mirror_view(model);
  model_host(0, 3) = 1.0f;  // after the committed tokens: 3
  model_host(1, 5) = 1.0f;  // after 3: 5
  model_host(2, 1) = 1.0f;  // after 3 5: 1
  model_host(3, 0) = 1.0f;  // after 6: 0
  Kokkos::deep_copy(model, model_host);

  // In an engine: model_probs from a LogitProcessor step with draft_trees and draft_token_indices
  // {-1, 0, 1, 2}, so that penalties and masks follow each node's own path.
  tokkos::TokenHistory history({7});
  const tokkos::GenerationConfig config;
  const tokkos::SequenceState state{.history = &history};
  const std::string id = "chat-1";
  const std::array<std::int32_t, 2> cum_num_token{0, nodes};
  const std::array<std::vector<std::int32_t>, 1> rows{{{-1, 0, 1, 2}}};
  tokkos::StepRequests step{{&config, 1}, {&state, 1}, {&id, 1}};
  step.cum_num_token = cum_num_token;
  step.draft_trees = {{&tree, 1}};
  step.draft_token_indices = rows;

  tokkos::DraftVerifier verifier(Space(), nodes, vocabulary);
  const tokkos::DraftProbabilities<Space::memory_space> chosen;
  const auto verified =
      verifier.verify(model, chosen, {&tree, 1}, tokkos::verify_uniforms(step), {&id, 1});
  tokkos::commit(verified[0], history);  // with the request's matcher, if it has one
  std::cout << "accepted " << verified[0].accepted_nodes.size() << " drafts, tokens";
  for (const tokkos::TokenId token : history.generated()) std::cout << ' ' << token;
  std::cout << '\n';
}
