// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
// Log-probabilities of the tokens that a speculative step emits: of accepted drafts and of the
// bonus token, in the target's distribution as the request is drawn from it (processed) and in the
// model's own (raw). docs/log_probabilities.md says which call reads which rows, and when.
#include <tokkos/tokkos.hpp>

#include <array>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Logits = Kokkos::View<float**, Kokkos::LayoutRight, Space>;

template <class T>
Kokkos::View<T*, Space> on_device(const std::vector<T>& values) {
  const Kokkos::View<T*, Space> view("values", values.size());
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(),
                                                                                values.size());
  Kokkos::deep_copy(view, host);
  return view;
}

// Token i of `tokens` in row rows[i] of the logits.
std::vector<float> log_probabilities_of(const Logits& logits, const std::vector<int>& rows,
                                        const std::vector<tokkos::TokenId>& tokens,
                                        float temperature) {
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto row_index = on_device(rows);
  const auto temperatures = on_device(std::vector<float>{temperature});  // one for all rows
  const auto token = on_device(tokens);
  const Kokkos::View<float*, Space> result("result", rows.size());
  tokkos::LogitRows<float, Memory> path;
  path.logits = logits;
  path.row_index = row_index;
  path.temperature = temperatures;
  const tokkos::Workspace<Memory> workspace(count, static_cast<std::int64_t>(logits.extent(1)));
  tokkos::measure(Space(), path, workspace.measures(count));
  tokkos::log_probabilities(Space(), path, workspace.measures(count),
                            tokkos::Vector<const tokkos::TokenId, Memory>(token),
                            tokkos::Vector<float, Memory>(result));
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), result);
  return {host.data(), host.data() + count};
}

int main() {
  const Kokkos::ScopeGuard kokkos;
  constexpr int vocabulary = 8;
  constexpr int nodes = 4;  // the root (the last committed token), then the draft nodes
  const tokkos::DraftTree tree{.token_ids = {3, 6, 5}, .parents = {-1, -1, 0}};
  const Logits logits("logits", nodes, vocabulary),
      probabilities("probabilities", nodes, vocabulary);
  const auto model = Kokkos::create_mirror_view(logits);
  for (int v = 0; v < vocabulary; ++v) {
    for (int node = 0; node < nodes; ++node) model(node, v) = 0.25f * static_cast<float>(v);
  }
  model(0, 3) = model(1, 5) = model(3, 1) = 6.0f;  // 3 after the root, 5 after 3, 1 after 3 5
  Kokkos::deep_copy(logits, model);
  const Logits raw("raw", nodes, vocabulary);
  Kokkos::deep_copy(raw, logits);  // only for raw log-probabilities: `process` edits in place

  tokkos::TokenHistory history({7});
  const tokkos::GenerationConfig config{.temperature = 0.8f, .logit_bias = {{3, -1.0}}};
  const tokkos::SequenceState state{.history = &history};
  const std::string id = "chat-1";
  const std::array<std::int32_t, 2> cum_num_token{0, nodes};
  const std::array<std::vector<std::int32_t>, 1> node_of_row{{{-1, 0, 1, 2}}};
  tokkos::StepRequests step{{&config, 1}, {&state, 1}, {&id, 1}};
  step.cum_num_token = cum_num_token;
  step.draft_trees = {{&tree, 1}};
  step.draft_token_indices = node_of_row;

  tokkos::LogitProcessor processor(Space(), nodes, vocabulary);
  tokkos::DraftVerifier verifier(Space(), nodes, vocabulary);
  processor.process(logits, step, {.probabilities = probabilities},
                    {.store_mask = true});  // the logits stay, edited and masked
  const auto verified =
      verifier.verify(probabilities, {}, {&tree, 1}, tokkos::verify_uniforms(step))[0];

  // Each token was chosen in the row of the node before it: the first in the root's.
  std::vector<int> rows{0};
  for (const std::int32_t node : verified.accepted_nodes) rows.push_back(1 + node);
  rows.resize(verified.tokens.size());  // without a bonus token there is one row less
  const auto processed = log_probabilities_of(logits, rows, verified.tokens, config.temperature);
  const auto own = log_probabilities_of(raw, rows, verified.tokens, 1.0f);

  const auto p = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), probabilities);
  std::cout << std::fixed << std::setprecision(4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const tokkos::TokenId token = verified.tokens[i];
    std::cout << "token " << token << ": processed " << processed[i] << ", raw " << own[i] << '\n';
    if (std::abs(std::log(p(rows[i], token)) - processed[i]) > 1e-5f) return 1;
  }
}
