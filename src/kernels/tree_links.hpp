// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/token_trees.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// What a link that leads outside its tree's nodes is read as.
inline constexpr std::int32_t broken_link = -2;

/// One tree's links, whatever their encoding, as nodes of the batch.
template <class Space>
struct TreeLinks {
  const TokenTrees<Space>& trees;
  std::int64_t begin;  ///< the tree's nodes, [begin, begin + size), or all of the batch
  std::int64_t size;

  /// Those of tree `tree`; no nodes where tree_begin is out of range.
  KOKKOS_FUNCTION static TreeLinks of(const TokenTrees<Space>& trees, std::int64_t nodes,
                                      std::int64_t tree) {
    if (trees.tree_begin.is_given()) {
      const std::int64_t first = trees.tree_begin(tree);
      const std::int64_t end = trees.tree_begin(tree + 1);
      const bool legal = first >= 0 && first <= end && end <= nodes;
      return {trees, legal ? first : 0, legal ? end - first : 0};
    }
    const std::int64_t own = trees.nodes_per_tree;
    return own > 0 ? TreeLinks{trees, tree * own, own} : TreeLinks{trees, 0, nodes};
  }

  KOKKOS_FUNCTION std::int32_t root(std::int64_t tree) const {
    return node_of(trees.parent_ptr(tree));
  }

  KOKKOS_FUNCTION std::int32_t first_child(std::int32_t node) const {
    if (!trees.first_child.is_given()) {
      return node + 1 < begin + size ? node + 1 : -1;  // a chain
    }
    return node_of(trees.first_child(node));
  }

  KOKKOS_FUNCTION std::int32_t next_sibling(std::int32_t node) const {
    return trees.next_sibling.is_given() ? node_of(trees.next_sibling(node)) : -1;
  }

  /// What parent_ptr says of a node.
  KOKKOS_FUNCTION std::int32_t own_number(std::int32_t node) const {
    return node - static_cast<std::int32_t>(begin);
  }

 private:
  KOKKOS_FUNCTION std::int32_t node_of(std::int64_t link) const {
    if (link >= 0 && link < size) return static_cast<std::int32_t>(begin + link);
    return link == -1 ? -1 : broken_link;
  }
};

}  // namespace tokkos
