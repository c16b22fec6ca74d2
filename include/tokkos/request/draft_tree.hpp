// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tokkos {

/// The draft tokens of one request. parents[i] is the node that node i follows, or -1 where it
/// follows the last committed token. linked_draft_trees.hpp makes it of links.
struct DraftTree {
  /// [size] the token of each node.
  std::vector<TokenId> token_ids;
  /// [size] the node that each one follows, -1: the committed tokens.
  std::vector<std::int32_t> parents;
  /// Every node once, in the order in which siblings are tried; empty: in that of their numbers.
  std::vector<std::int32_t> trial_order = {};

  /// Number of nodes.
  std::size_t size() const { return token_ids.size(); }

  /// Whether each node follows the one before it, the first the committed tokens.
  bool is_chain() const;

  /// The nodes from the one that follows the committed tokens down to `node`, itself included;
  /// empty for -1. @throws Error if node is not in [-1, size) or no path leads down to it
  std::vector<std::int32_t> path(std::int32_t node) const;

  /// Number of nodes on the path to `node`: 0 for -1. @throws Error as path does
  std::int32_t depth(std::int32_t node) const;

  /// The depth of every node, [size]. @throws Error as path does
  std::vector<std::int32_t> depths() const;
};

/// Checks the tree of request number `request`: tokens in [0, vocabulary), parents in [-1, size),
/// no cycle, every node once in trial_order.
/// @throws Error that names field, node, value and range
void validate(const DraftTree& tree, std::int64_t vocabulary, std::int64_t request);

/// Draft trees as the arrays of batch_spec_verify. Each tree gets a root node before its drafts, so
/// node j of tree b is node root[b] + 1 + j of the batch.
struct TokenTreeArrays {
  std::vector<TokenId> draft_tokens;       ///< [nodes], -1 at roots
  std::vector<std::int32_t> first_child;   ///< [nodes]
  std::vector<std::int32_t> next_sibling;  ///< [nodes]
  std::vector<std::int32_t> root;          ///< [batch]
};
/// The arrays of a batch of trees. @throws Error as DraftTree::path does
TokenTreeArrays flatten(std::span<const DraftTree> trees);

/// Checks arrays in the encoding of batch_spec_verify, roots in parent_ptr: indices in range, no
/// cycle, no node with two parents or in two trees, draft tokens in [0, vocabulary) but for roots.
/// @throws Error that names field, node, value and range
void validate_token_trees(std::span<const TokenId> draft_tokens,
                          std::span<const std::int32_t> first_child,
                          std::span<const std::int32_t> next_sibling,
                          std::span<const std::int32_t> parent_ptr, std::int64_t vocabulary);

}  // namespace tokkos
