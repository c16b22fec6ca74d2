// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/draft_tree.hpp>
#include <tokkos/request/index_span.hpp>

#include <cstdint>
#include <vector>

namespace tokkos {

/// The draft tree whose links an engine keeps, int32 or int64, as xgrammar's traverse_draft_tree
/// takes them (retrieve_next_token, retrieve_next_sibling, draft_tokens). Node 0 is the root, the
/// last committed token; its token is not read. These are arrays of the host; verify_draft_trees
/// and verify_greedy take the same ones in a device's memory (TokenTrees).
///
/// Node i of the links (i > 0) is node i - 1 of the DraftTree. In a DraftVerifier's batch, whose
/// nodes are each tree's root and then its drafts, it keeps its number, counted from the root: rows
/// of logits and probabilities stay as they are. Siblings are tried in the order of their links.
///
/// @param draft_tokens [nodes] in [0, vocabulary)
/// @param first_child [nodes] first child of each node, -1 for none
/// @param next_sibling [nodes] next sibling of each node, -1 for none and at the root
/// @throws Error that names array, place, value and range: lengths that differ, no root, numbers
///   out of range, a node that two links lead to, a cycle, a node that no path from the root leads
///   to. O(nodes).
///
///     const std::vector<std::int64_t> tokens{7, 3, 5, 6};
///     const std::vector<std::int64_t> child{1, 2, -1, -1}, sibling{-1, 3, -1, -1};
///     const DraftTree tree = draft_tree_of_links(tokens, child, sibling, vocabulary);
///     // tree.token_ids is {3, 5, 6}, tree.parents {-1, 0, -1}
DraftTree draft_tree_of_links(IndexSpan draft_tokens, IndexSpan first_child, IndexSpan next_sibling,
                              std::int64_t vocabulary);

/// The same for a batch of trees of nodes_per_tree nodes each, with SGLang's arrays as they are,
/// [batch, nodes_per_tree] row after row: candidates, retrive_next_token, retrive_next_sibling.
/// Row i of what SGLang's verification takes is then node i of DraftVerifier's batch.
/// @throws Error also if nodes_per_tree does not divide the number of nodes
std::vector<DraftTree> draft_trees_of_links(IndexSpan draft_tokens, IndexSpan first_child,
                                            IndexSpan next_sibling, std::int64_t nodes_per_tree,
                                            std::int64_t vocabulary);

}  // namespace tokkos
