// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/index_vector.hpp>
#include <tokkos/batch/token_trees.hpp>

#include "kernels/check_views.hpp"
#include "kernels/named_range.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace tokkos {

/// Throws unless `numbers` has `extent` elements.
template <class Space>
void check_vector(const char* name, const IndexVector<Space>& numbers, std::int64_t extent) {
  // Numbers without memory are of the width that has an extent.
  const bool is_wide = numbers.wide().data() != nullptr || numbers.wide().extent(0) > 0;
  if (is_wide) {
    check_vector(name, numbers.wide(), extent);
  } else {
    check_vector(name, numbers.narrow(), extent);
  }
}

/// Whether a View of numbers was passed, if only one without memory.
template <class Space>
bool is_passed(const IndexVector<Space>& numbers) {
  return numbers.is_given() || numbers.narrow().extent(0) > 0 || numbers.wide().extent(0) > 0;
}

/// Throws unless the trees are trees of `nodes` nodes.
template <class Space>
void check_trees(const TokenTrees<Space>& trees, std::int64_t nodes) {
  const auto batch = static_cast<std::int64_t>(trees.parent_ptr.extent(0));
  check_vector("token_tree_parent_ptr", trees.parent_ptr, batch);
  require(nodes <= std::numeric_limits<std::int32_t>::max(), "nodes", std::nullopt, nodes,
          "at most 2147483647");
  const bool counted = trees.nodes_per_tree != 0;
  if (counted) {
    const bool fits =
        batch == 0 ? nodes == 0 : nodes % batch == 0 && nodes / batch == trees.nodes_per_tree;
    require(trees.nodes_per_tree > 0 && fits, "nodes_per_tree", std::nullopt, trees.nodes_per_tree,
            "the number of nodes divided by the number of trees");
  }
  if (is_passed(trees.tree_begin)) {
    check_vector("tree_begin", trees.tree_begin, batch + 1);
    require(!counted, "nodes_per_tree", std::nullopt, trees.nodes_per_tree, "0 with tree_begin");
  }
  const bool numbers_own_nodes = counted || trees.tree_begin.is_given();
  if (numbers_own_nodes && !is_passed(trees.first_child) && !is_passed(trees.next_sibling)) return;
  check_vector("token_tree_first_child", trees.first_child, nodes);
  check_vector("token_tree_next_sibling", trees.next_sibling, nodes);
}

/// Throws unless the arrays of a verification describe the same nodes and vocabulary.
template <class Space>
void check_drafts(const Matrix<const float, Space>& draft_probs,
                  const IndexVector<Space>& draft_row, const IndexVector<Space>& draft_tokens,
                  const Matrix<const float, Space>& model_probs, const TokenTrees<Space>& trees,
                  const Vector<const float, Space>& uniforms) {
  const auto nodes = static_cast<std::int64_t>(model_probs.extent(0));
  const auto vocabulary = static_cast<std::int64_t>(model_probs.extent(1));
  const auto rows = static_cast<std::int64_t>(draft_probs.extent(0));
  if (nodes > 0) check_vocabulary(vocabulary, 0);
  check_matrix("model_probs", model_probs, nodes, vocabulary);
  if (rows > 0) {
    check_matrix("draft_probs", draft_probs, is_passed(draft_row) ? rows : nodes, vocabulary);
  }
  if (is_passed(draft_row)) check_vector("draft_row", draft_row, nodes);
  check_vector("draft_tokens", draft_tokens, nodes);
  check_trees(trees, nodes);
  check_vector("uniform_samples", uniforms, nodes);
}

/// The memory of numbers of either width.
template <class Space>
NamedRange range_of(const char* name, const IndexVector<Space>& numbers) {
  if (numbers.wide().data() != nullptr) return NamedRange::of(name, numbers.wide());
  return NamedRange::of(name, numbers.narrow());
}

/// The links of trees, and the tokens of their nodes.
template <class Space>
std::array<NamedRange, 4> ranges_of_links(const IndexVector<Space>& draft_tokens,
                                          const TokenTrees<Space>& trees) {
  return {range_of("draft_tokens", draft_tokens),
          range_of("token_tree_first_child", trees.first_child),
          range_of("token_tree_next_sibling", trees.next_sibling),
          range_of("tree_begin", trees.tree_begin)};
}

/// What a verification reads and never writes, the target's rows aside.
template <class Space>
std::array<NamedRange, 7> ranges_of_drafts(const Matrix<const float, Space>& draft_probs,
                                           const IndexVector<Space>& draft_row,
                                           const IndexVector<Space>& draft_tokens,
                                           const TokenTrees<Space>& trees,
                                           const Vector<const float, Space>& uniforms) {
  return joined(
      std::array{NamedRange::of("draft_probs", draft_probs), range_of("draft_row", draft_row),
                 NamedRange::of("uniform_samples", uniforms)},
      ranges_of_links(draft_tokens, trees));
}

}  // namespace tokkos
