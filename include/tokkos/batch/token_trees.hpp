// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/index_vector.hpp>
#include <tokkos/batch/views.hpp>

#include <cstdint>

namespace tokkos {

/// Draft trees of a batch. Nodes are numbered over the whole batch; a tree's root stands for the
/// last committed token, and neither its draft token nor its draft row nor its uniform is read.
///
/// Links are int32 or int64. By default they number the nodes of the batch, as the seed's do. With
/// `nodes_per_tree` or `tree_begin`, links and parent_ptr count from the first node of their own
/// tree: SGLang's retrive_next_token and retrive_next_sibling [batch, n] are first_child and
/// next_sibling with nodes_per_tree = n and parent_ptr = 0, and what xgrammar's traverse_draft_tree
/// takes is the same for one tree.
template <class MemorySpace>
struct TokenTrees {
  /// [nodes]: first child of each node, -1 for none. Left out together with next_sibling, and with
  /// nodes_per_tree or tree_begin given, every tree is a chain: each node's only child is the next.
  IndexVector<MemorySpace> first_child;
  /// [nodes]: next sibling of each node, -1 for none.
  IndexVector<MemorySpace> next_sibling;
  /// [batch]: each tree's root on entry, its last accepted node on return.
  Vector<std::int32_t, MemorySpace> parent_ptr;
  /// n > 0: tree b owns the nodes [b n, (b + 1) n), batch * n nodes in all.
  std::int64_t nodes_per_tree = 0;
  /// [batch + 1], instead: tree b owns the nodes [tree_begin[b], tree_begin[b + 1]).
  IndexVector<MemorySpace> tree_begin = {};
};

/// Chains of `drafts` draft tokens each: tree b has the nodes [b (drafts + 1), (b + 1) (drafts +
/// 1)), its root first. No links are built or read.
/// @param parent_ptr [batch] 0 on entry; on return how many drafts were accepted
template <class MemorySpace>
TokenTrees<MemorySpace> token_chains(const Vector<std::int32_t, MemorySpace>& parent_ptr,
                                     std::int64_t drafts) {
  TokenTrees<MemorySpace> trees;
  trees.parent_ptr = parent_ptr;
  trees.nodes_per_tree = drafts + 1;
  return trees;
}

/// Chains of different lengths.
/// @param tree_begin [batch + 1] first node of each chain (its root), then the number of nodes
template <class MemorySpace>
TokenTrees<MemorySpace> token_chains(const Vector<std::int32_t, MemorySpace>& parent_ptr,
                                     const IndexVector<MemorySpace>& tree_begin) {
  TokenTrees<MemorySpace> trees;
  trees.parent_ptr = parent_ptr;
  trees.tree_begin = tree_begin;
  return trees;
}

}  // namespace tokkos
