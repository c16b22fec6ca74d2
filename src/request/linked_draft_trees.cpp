// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/linked_draft_trees.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace tokkos {

namespace {

constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();

/// The links of one tree whose numbers are in range; each node but the root has at most one link
/// that leads to it, the root none.
struct Links {
  IndexSpan first_child, next_sibling;
  std::vector<std::size_t> from;  ///< [nodes] where the link to each node is, or `nothing`
};

[[noreturn]] void refuse_link(const char* field, std::size_t node, std::int64_t link,
                              std::string expected) {
  throw Error(field, static_cast<std::int64_t>(node), to_text(link), std::move(expected));
}

/// Notes where a node's link leads to.
void follow(const char* field, std::size_t node, std::int64_t link, Links& links) {
  if (link == -1) return;
  const auto end = static_cast<std::int64_t>(links.from.size());
  if (link < 1 || link >= end) {
    refuse_link(field, node, link, "a node in [1, " + to_text(end) + "), or -1");
  }
  std::size_t& from = links.from[static_cast<std::size_t>(link)];
  if (from != nothing) {
    refuse_link(field, node, link,
                "a node that no other link leads to; node " + std::to_string(from) + "'s does");
  }
  from = node;
}

/// Throws unless an array has a number for each node.
void require_nodes(const char* field, std::size_t size, std::size_t nodes) {
  if (size == nodes) return;
  throw Error(field, std::nullopt, std::to_string(size),
              "one for each of the " + std::to_string(nodes) + " draft tokens");
}

Links checked_links(IndexSpan draft_tokens, IndexSpan first_child, IndexSpan next_sibling) {
  const std::size_t nodes = draft_tokens.size();
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  require(nodes >= 1 && nodes <= most, "draft_tokens.size", std::nullopt,
          static_cast<std::int64_t>(nodes), "a root at least, and at most 2147483647 nodes");
  require_nodes("first_child.size", first_child.size(), nodes);
  require_nodes("next_sibling.size", next_sibling.size(), nodes);
  require(next_sibling[0] == -1, "next_sibling", 0, next_sibling[0], "-1 at the root");
  Links links{first_child, next_sibling, std::vector<std::size_t>(nodes, nothing)};
  for (std::size_t i = 0; i < nodes; ++i) {
    follow("first_child", i, first_child[i], links);
    follow("next_sibling", i, next_sibling[i], links);
  }
  return links;
}

/// Says why the root does not lead to `node`: following links backwards ends at a node that no link
/// leads to, or never.
[[noreturn]] void refuse_unreached(std::size_t node, const Links& links, IndexSpan draft_tokens) {
  for (std::size_t step = 0; step < links.from.size(); ++step) {
    if (links.from[node] == nothing) {
      refuse_link("draft_tokens", node, draft_tokens[node],
                  "the token of a node that a link leads to, or no such node");
    }
    node = links.from[node];
  }
  const std::size_t from = links.from[node];  // as many steps back end on the cycle
  const bool is_child = links.first_child[from] == static_cast<std::int64_t>(node);
  refuse_link(is_child ? "first_child" : "next_sibling", from, static_cast<std::int64_t>(node),
              "a link that leads to -1 in the end, not back to its node");
}

/// Every node's number, 0 at the root, in the order of a walk that takes children before siblings;
/// the parent of each is left in `parents`.
std::vector<std::size_t> walk(const Links& links, std::vector<std::int32_t>& parents) {
  std::vector<std::size_t> order;
  std::vector<std::size_t> open{0};
  const auto go_on = [&](std::int64_t link, std::int32_t parent) {
    if (link == -1) return;
    open.push_back(static_cast<std::size_t>(link));
    parents[open.back() - 1] = parent;
  };
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    order.push_back(node);
    if (node > 0) go_on(links.next_sibling[node], parents[node - 1]);
    go_on(links.first_child[node], static_cast<std::int32_t>(node) - 1);
  }
  return order;
}

}  // namespace

DraftTree draft_tree_of_links(IndexSpan draft_tokens, IndexSpan first_child, IndexSpan next_sibling,
                              std::int64_t vocabulary) {
  require(vocabulary <= max_vocabulary, "vocabulary", std::nullopt, vocabulary,
          "at most 2147483647");
  const Links links = checked_links(draft_tokens, first_child, next_sibling);
  const std::size_t nodes = draft_tokens.size();
  constexpr std::int32_t unreached = -2;
  DraftTree tree;
  tree.parents.assign(nodes - 1, unreached);
  const std::vector<std::size_t> order = walk(links, tree.parents);
  tree.token_ids.reserve(nodes - 1);
  bool by_numbers = true;
  for (std::size_t node = 1; node < nodes; ++node) {
    if (tree.parents[node - 1] == unreached) refuse_unreached(node, links, draft_tokens);
    const std::int64_t token = draft_tokens[node];
    if (token < 0 || token >= vocabulary) {
      refuse_link("draft_tokens", node, token, "a token in [0, " + to_text(vocabulary) + ")");
    }
    tree.token_ids.push_back(static_cast<TokenId>(token));
    const std::int64_t sibling = next_sibling[node];
    by_numbers = by_numbers && (sibling == -1 || sibling > static_cast<std::int64_t>(node));
  }
  if (by_numbers) return tree;
  tree.trial_order.reserve(nodes - 1);
  for (const std::size_t node : order) {
    if (node > 0) tree.trial_order.push_back(static_cast<std::int32_t>(node) - 1);
  }
  return tree;
}

std::vector<DraftTree> draft_trees_of_links(IndexSpan draft_tokens, IndexSpan first_child,
                                            IndexSpan next_sibling, std::int64_t nodes_per_tree,
                                            std::int64_t vocabulary) {
  const std::size_t nodes = draft_tokens.size();
  const auto each = static_cast<std::size_t>(std::max<std::int64_t>(nodes_per_tree, 0));
  if (each == 0 || nodes % each != 0) {
    throw Error("nodes_per_tree", std::nullopt, to_text(nodes_per_tree),
                "a divisor of the number of nodes, " + std::to_string(nodes));
  }
  require_nodes("first_child.size", first_child.size(), nodes);
  require_nodes("next_sibling.size", next_sibling.size(), nodes);
  std::vector<DraftTree> trees;
  trees.reserve(nodes / each);
  for (std::size_t first = 0; first < nodes; first += each) {
    try {
      trees.push_back(draft_tree_of_links(draft_tokens.subspan(first, each),
                                          first_child.subspan(first, each),
                                          next_sibling.subspan(first, each), vocabulary));
    } catch (const Error& error) {
      throw Error("draft_trees[" + std::to_string(trees.size()) + "]." + error.field(),
                  error.index(), error.value(), error.expected());
    }
  }
  return trees;
}

}  // namespace tokkos
