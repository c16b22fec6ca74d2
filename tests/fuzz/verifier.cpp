// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Draft trees of requests through DraftVerifier: they are refused if and only if something is bad,
// and accepted as plain references accept them.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/draft_verifier.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fuzz/harnesses.hpp"
#include "fuzz/verifier_input.hpp"
#include "reference/shared_rows.hpp"

namespace tokkos::test {

namespace {

using Threads = Kokkos::DefaultHostExecutionSpace;

struct VerifierOutcome {
  bool threw = false, greedy_threw = false;
  std::vector<std::vector<std::int32_t>> nodes, greedy_nodes;
  std::vector<std::vector<TokenId>> tokens, greedy_tokens;
  std::vector<std::int32_t> status;

  bool operator==(const VerifierOutcome&) const = default;
};

template <class Space>
VerifierOutcome run(const VerifierStep& step) {
  DraftVerifier<Space> verifier(Space(), max_nodes, step.vocabulary, step.active);
  const auto width = static_cast<std::size_t>(step.vocabulary);
  const Kokkos::LayoutStride shape(step.nodes, width, width, 1);
  const Matrix<const float, Kokkos::HostSpace> model(step.model_probs.data(), shape);
  DraftProbabilities<Kokkos::HostSpace> drafts;
  if (!step.draft_probs.empty())
    drafts.rows = decltype(drafts.rows)(step.draft_probs.data(), shape);
  drafts.row_of_node = step.row_of_node;
  drafts.without_replacement = step.without_replacement;
  VerifierOutcome outcome;
  try {
    for (const auto& tree : verifier.verify(model, drafts, step.trees, step.uniforms)) {
      outcome.nodes.push_back(tree.accepted_nodes);
      outcome.tokens.push_back(tree.tokens);
      outcome.status.push_back(tree.status);
    }
  } catch (const Error& error) {
    outcome.threw = true;
    expect(names_one_of(step.tree_faults, error) || names_one_of(step.other_faults, error),
           "an error names what is bad, its place and its value");
  }
  try {
    for (const auto& tree : verifier.template verify_greedy<float>(model, step.trees)) {
      outcome.greedy_nodes.push_back(tree.accepted_nodes);
      outcome.greedy_tokens.push_back(tree.tokens);
    }
  } catch (const Error& error) {
    outcome.greedy_threw = true;
    expect(names_one_of(step.tree_faults, error), "an error names what is bad of the trees");
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
                         .subspan((root + static_cast<std::size_t>(at + 1)) * width,
                                  static_cast<std::size_t>(step.active));
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

/// The step as plain arrays for the reference, a row of draft probabilities for every node; what
/// the target does not have is forbidden.
VerifyCase case_of(const VerifierStep& step) {
  VerifyCase c;
  c.vocabulary = step.vocabulary;
  c.model_probs = step.model_probs;
  c.draft_probs.assign(step.model_probs.size(), 0.0f);
  c.first_child.assign(step.nodes, -1);
  c.next_sibling.assign(step.nodes, -1);
  c.uniforms = step.uniforms.nodes;
  c.bonus_uniforms = step.uniforms.bonus;
  for (const DraftTree& tree : step.trees) {
    const auto root = static_cast<std::int32_t>(c.draft_tokens.size());
    c.roots.push_back(root);
    c.draft_tokens.push_back(-1);
    c.draft_tokens.insert(c.draft_tokens.end(), tree.token_ids.begin(), tree.token_ids.end());
    for (std::size_t i = 0; i < tree.size(); ++i) {
      std::int32_t* link = &c.first_child[static_cast<std::size_t>(root + 1 + tree.parents[i])];
      while (*link != -1) link = &c.next_sibling[static_cast<std::size_t>(*link)];
      *link = root + 1 + static_cast<std::int32_t>(i);
    }
  }
  const std::size_t width = c.width();
  for (std::size_t i = 0; i < c.model_probs.size(); ++i) {
    if (i % width >= static_cast<std::size_t>(step.active)) c.model_probs[i] = 0.0f;
  }
  if (!step.draft_probs.empty()) c.draft_probs = step.draft_probs;
  c.row_of_node = step.row_of_node;
  for (int node = 0; node < c.nodes() && step.row_of_node.empty(); ++node) {
    c.row_of_node.push_back(step.draft_probs.empty() ? -1 : node);
  }
  for (const std::int32_t root : c.roots) c.row_of_node[static_cast<std::size_t>(root)] = -1;
  c.without_replacement = step.without_replacement;
  return with_own_rows(c);
}

/// The nodes on the way from a tree's root to one of its nodes.
std::vector<std::int32_t> path_to(const DraftTree& tree, std::int32_t node) {
  std::vector<std::int32_t> path;
  for (; node != -1; node = tree.parents[static_cast<std::size_t>(node)]) path.push_back(node);
  std::ranges::reverse(path);
  return path;
}

void check_lossless(const VerifierStep& step, const VerifierOutcome& outcome) {
  const VerifyCase c = case_of(step);
  const LosslessOutcome expected = verify_lossless(c);
  for (std::size_t i = 0; i < step.trees.size(); ++i) {
    const DraftTree& tree = step.trees[i];
    const auto path = path_to(tree, expected.last_accepted[i] - c.roots[i] - 1);
    std::vector<TokenId> tokens;
    for (const std::int32_t node : path) {
      tokens.push_back(tree.token_ids[static_cast<std::size_t>(node)]);
    }
    tokens.push_back(expected.bonus_tokens[i]);
    expect(outcome.nodes[i] == path, "the nodes that the reference accepts are accepted");
    expect(outcome.tokens[i] == tokens, "the tokens are the reference's");
    expect(outcome.status[i] == expected.status[i], "the status is the reference's");
  }
}

}  // namespace

void fuzz_verifier(std::span<const std::uint8_t> input) {
  FuzzBytes bytes(input);
  const VerifierStep step = make_verifier_step(bytes);
  const VerifierOutcome serial = run<Kokkos::Serial>(step);
  const bool good_trees = step.tree_faults.empty();
  const bool good = good_trees && step.other_faults.empty();
  expect(serial.threw != good, "the verifier refuses what is bad, and nothing else");
  expect(serial.greedy_threw != good_trees, "greedy verification refuses bad trees alone");
  if (good) check_lossless(step, serial);
  std::size_t root = 0;
  for (std::size_t i = 0; i < step.trees.size() && good_trees; ++i) {
    expect(serial.greedy_nodes[i] == greedy_path(step, i, root),
           "greedy verification follows the largest elements");
    root += step.trees[i].size() + 1;
  }
  expect(run<Threads>(step) == serial, "threads change nothing");
}

}  // namespace tokkos::test
