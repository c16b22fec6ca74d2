// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/verifier_input.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>

#include "fuzz/trees_input.hpp"

namespace tokkos::test {

namespace {

void fill_rows(FuzzBytes& bytes, std::vector<float>& rows, std::size_t count, std::size_t width) {
  rows.resize(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    fill_row(bytes, std::span(rows).subspan(i * width, width));
  }
}

/// Chooses rows for the nodes, one or more of them bad.
void choose_rows(FuzzBytes& bytes, const std::vector<bool>& is_root, VerifierStep& step) {
  const auto count = static_cast<std::int32_t>(step.nodes);
  for (std::size_t i = 0; i < step.nodes; ++i) {
    const std::int32_t row =
        bytes.mostly<std::int32_t>({static_cast<std::int32_t>(i), -1}, {-2, count});
    step.row_of_node.push_back(row);
    if (is_root[i] || (row >= -1 && row < count)) continue;
    step.other_faults.push_back({"row_of_node", static_cast<std::int64_t>(i), std::to_string(row)});
  }
  if (!bytes.rarely()) return;
  step.row_of_node.push_back(-1);
  step.other_faults.push_back(
      {"row_of_node.size", std::nullopt, std::to_string(step.row_of_node.size())});
}

/// Lets nodes have the rows of nodes before them, where they have one.
void share_rows(FuzzBytes& bytes, VerifierStep& step) {
  if (step.row_of_node.empty() || !bytes.flag()) return;
  step.without_replacement = bytes.flag();
  for (std::size_t i = 1; i < step.nodes; ++i) {
    const std::int32_t previous = step.row_of_node[i - 1];
    const bool own = step.row_of_node[i] == static_cast<std::int32_t>(i);
    const bool is_row = previous >= 0 && previous < static_cast<std::int32_t>(step.nodes);
    if (own && is_row && bytes.below(4) != 3) step.row_of_node[i] = previous;
  }
}

/// Takes tokens from the target, but not from the drafts.
void pad_target(FuzzBytes& bytes, VerifierStep& step) {
  const auto width = static_cast<std::size_t>(step.vocabulary);
  step.active = 1 + bytes.word() % step.vocabulary;
  const auto active = static_cast<std::size_t>(step.active);
  for (std::size_t i = 0; i < step.nodes; ++i) {
    const auto row = std::span(step.model_probs).subspan(i * width, width);
    fill_row(bytes, row.first(active));
    std::ranges::fill(row.subspan(active), std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace

VerifierStep make_verifier_step(FuzzBytes& bytes) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  VerifierStep step;
  const int size = bytes.byte();
  step.vocabulary = size == 255 ? 12300 : std::array{5, 1, 2, 33, 40}[std::size_t(size) % 5];
  step.trees = make_draft_trees(bytes, step.vocabulary, 6);
  const auto width = static_cast<std::size_t>(step.vocabulary);
  std::vector<bool> is_root;
  for (std::size_t i = 0; i < step.trees.size(); ++i) {
    add_faults(step.trees[i], step.vocabulary, "draft_trees[" + std::to_string(i) + "]",
               step.tree_faults);
    is_root.push_back(true);
    is_root.resize(is_root.size() + step.trees[i].size(), false);
    step.uniforms.bonus.push_back(bytes.mostly({0.5f, 0.0f, 0.9f}, {1.0f, -0.1f, nan}));
  }
  step.nodes = is_root.size();
  if (step.nodes > max_nodes) {
    step.tree_faults.push_back({"nodes", std::nullopt, std::to_string(step.nodes)});
  }
  step.model_probs.resize(step.nodes * width);
  for (std::size_t i = 0; i < step.nodes; ++i) {
    fill_row(bytes, std::span(step.model_probs).subspan(i * width, width));
    step.uniforms.nodes.push_back(bytes.mostly({0.5f, 0.0f, 0.99f}, {1.0f, -0.1f, nan}));
  }
  if (bytes.flag()) fill_rows(bytes, step.draft_probs, step.nodes, width);
  if (!step.draft_probs.empty() && bytes.flag()) choose_rows(bytes, is_root, step);
  if (bytes.rarely()) step.uniforms.nodes.push_back(0.5f);
  step.without_replacement = bytes.rarely();
  add_uniform_faults(step.uniforms.nodes, step.nodes, "uniforms.nodes", step.other_faults, is_root);
  add_uniform_faults(step.uniforms.bonus, step.trees.size(), "uniforms.bonus", step.other_faults);
  share_rows(bytes, step);
  step.active = step.vocabulary;
  if (bytes.below(4) == 3) pad_target(bytes, step);
  return step;
}

}  // namespace tokkos::test
