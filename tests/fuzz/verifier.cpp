// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Draft trees of requests through DraftVerifier: they are refused if and only if something is bad,
// and greedy verification follows the largest elements.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/draft_verifier.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "fuzz/harnesses.hpp"
#include "fuzz/trees_input.hpp"

namespace tokkos::test {

namespace {

using Threads = Kokkos::DefaultHostExecutionSpace;

/// A step of DraftVerifier.
struct VerifierStep {
  int vocabulary = 1;
  std::vector<DraftTree> trees;
  std::vector<float> model_probs, draft_probs;
  std::vector<std::int32_t> row_of_node;
  VerifyUniforms uniforms;
  bool good_trees = true;
  bool good = true;
  std::size_t nodes = 0;
};

constexpr std::size_t max_nodes = 18;

bool is_uniform(float u) {
  return u >= 0.0f && u < 1.0f;
}

VerifierStep make_verifier_step(FuzzBytes& bytes) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  VerifierStep step;
  step.vocabulary = bytes.one_of({5, 1, 2, 33, 40});
  step.trees = make_draft_trees(bytes, step.vocabulary, 6);
  const auto width = static_cast<std::size_t>(step.vocabulary);
  std::vector<bool> is_root;
  for (const DraftTree& tree : step.trees) {
    step.good_trees = step.good_trees && is_draft_tree(tree, step.vocabulary);
    is_root.push_back(true);
    is_root.resize(is_root.size() + tree.size(), false);
    step.uniforms.bonus.push_back(bytes.mostly({0.5f, 0.0f, 0.9f}, {1.0f, -0.1f, nan}));
    step.good = step.good && is_uniform(step.uniforms.bonus.back());
  }
  step.nodes = is_root.size();
  step.good_trees = step.good_trees && step.nodes <= max_nodes;
  step.model_probs.resize(step.nodes * width);
  for (std::size_t i = 0; i < step.nodes; ++i) {
    fill_row(bytes, std::span(step.model_probs).subspan(i * width, width));
    step.uniforms.nodes.push_back(bytes.mostly({0.5f, 0.0f, 0.99f}, {1.0f, -0.1f, nan}));
    step.good = step.good && (is_root[i] || is_uniform(step.uniforms.nodes.back()));
  }
  if (bytes.flag()) {
    step.draft_probs.resize(step.nodes * width);
    for (std::size_t i = 0; i < step.nodes; ++i) {
      fill_row(bytes, std::span(step.draft_probs).subspan(i * width, width));
    }
  }
  if (!step.draft_probs.empty() && bytes.flag()) {
    const auto count = static_cast<std::int32_t>(step.nodes);
    for (std::size_t i = 0; i < step.nodes; ++i) {
      step.row_of_node.push_back(
          bytes.mostly<std::int32_t>({static_cast<std::int32_t>(i), -1}, {-2, count}));
      const std::int32_t row = step.row_of_node.back();
      step.good = step.good && (is_root[i] || (row >= -1 && row < count));
    }
    if (bytes.rarely()) {
      step.row_of_node.push_back(-1);
      step.good = false;
    }
  }
  if (bytes.rarely()) {
    step.uniforms.nodes.push_back(0.5f);
    step.good = false;
  }
  step.good = step.good && step.good_trees;
  return step;
}

struct VerifierOutcome {
  bool threw = false, greedy_threw = false;
  std::vector<std::vector<std::int32_t>> nodes, greedy_nodes;
  std::vector<std::vector<TokenId>> tokens, greedy_tokens;
  std::vector<std::int32_t> status;

  bool operator==(const VerifierOutcome&) const = default;
};

template <class Space>
VerifierOutcome run(const VerifierStep& step) {
  DraftVerifier<Space> verifier(Space(), max_nodes, step.vocabulary);
  const auto width = static_cast<std::size_t>(step.vocabulary);
  const Kokkos::LayoutStride shape(step.nodes, width, width, 1);
  const Matrix<const float, Kokkos::HostSpace> model(step.model_probs.data(), shape);
  DraftProbabilities<Kokkos::HostSpace> drafts;
  if (!step.draft_probs.empty())
    drafts.rows = decltype(drafts.rows)(step.draft_probs.data(), shape);
  drafts.row_of_node = step.row_of_node;
  VerifierOutcome outcome;
  try {
    for (const auto& tree : verifier.verify(model, drafts, step.trees, step.uniforms)) {
      outcome.nodes.push_back(tree.accepted_nodes);
      outcome.tokens.push_back(tree.tokens);
      outcome.status.push_back(tree.status);
    }
  } catch (const Error&) {
    outcome.threw = true;
  }
  try {
    for (const auto& tree : verifier.template verify_greedy<float>(model, step.trees)) {
      outcome.greedy_nodes.push_back(tree.accepted_nodes);
      outcome.greedy_tokens.push_back(tree.tokens);
    }
  } catch (const Error&) {
    outcome.greedy_threw = true;
  }
  return outcome;
}

/// The nodes that greedy decoding accepts, by following the first largest element of each row.
std::vector<std::int32_t> greedy_path(const VerifierStep& step, std::size_t tree,
                                      std::size_t root) {
  const auto width = static_cast<std::size_t>(step.vocabulary);
  std::vector<std::int32_t> path;
  const DraftTree& drafts = step.trees[tree];
  for (std::int32_t at = -1;;) {
    const auto row = std::span(step.model_probs)
                         .subspan((root + static_cast<std::size_t>(at + 1)) * width, width);
    const auto best = std::ranges::max_element(row) - row.begin();
    std::int32_t next = -1;
    for (std::size_t i = drafts.size(); i-- > 0;) {
      if (drafts.parents[i] == at && drafts.token_ids[i] == best) {
        next = static_cast<std::int32_t>(i);
      }
    }
    if (next == -1) return path;
    path.push_back(at = next);
  }
}

}  // namespace

void fuzz_verifier(std::span<const std::uint8_t> input) {
  FuzzBytes bytes(input);
  const VerifierStep step = make_verifier_step(bytes);
  const VerifierOutcome serial = run<Kokkos::Serial>(step);
  expect(serial.threw == !step.good, "the verifier refuses what is bad, and nothing else");
  expect(serial.greedy_threw == !step.good_trees, "greedy verification refuses bad trees alone");
  std::size_t root = 0;
  for (std::size_t i = 0; i < step.trees.size() && !serial.greedy_threw; ++i) {
    expect(serial.greedy_nodes[i] == greedy_path(step, i, root),
           "greedy verification follows the largest elements");
    root += step.trees[i].size() + 1;
  }
  expect(run<Threads>(step) == serial, "threads change nothing");
}

}  // namespace tokkos::test
