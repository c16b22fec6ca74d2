// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/draft_tree.hpp>

#include <algorithm>
#include <string>

namespace tokkos {

namespace {

[[noreturn]] void refuse_index(const char* field, std::size_t i, std::int64_t value,
                               std::int64_t begin, std::int64_t end, const char* what) {
  throw Error(field, static_cast<std::int64_t>(i), to_text(value),
              std::string(what) + " in [" + to_text(begin) + ", " + to_text(end) + ")");
}

// Trees are checked in every call of every step: a message is made only where it is thrown.
void require_index(const char* field, std::size_t i, std::int64_t value, std::int64_t begin,
                   std::int64_t end, const char* what) {
  if (value < begin || value >= end) refuse_index(field, i, value, begin, end, what);
}

/// Follows every node upwards until -1 or a node that is known to lead there.
void require_no_cycle(std::span<const std::int32_t> parents) {
  const std::size_t nodes = parents.size();
  std::vector<std::size_t> seen_from(nodes, nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::int32_t j = static_cast<std::int32_t>(i); j != -1;) {
      const auto node = static_cast<std::size_t>(j);
      if (seen_from[node] == i) {
        throw Error("parents", static_cast<std::int64_t>(i), to_text(parents[i]),
                    "a parent that leads to -1, not a cycle");
      }
      if (seen_from[node] < i) break;
      seen_from[node] = i;
      j = parents[node];
    }
  }
}

/// Throws unless every node stands in the order once.
void require_permutation(std::span<const std::int32_t> order, std::size_t nodes) {
  if (order.size() != nodes) {
    throw Error("trial_order.size", std::nullopt, std::to_string(order.size()),
                "0, or the number of draft tokens, " + std::to_string(nodes));
  }
  std::vector<bool> seen(nodes, false);
  for (std::size_t i = 0; i < nodes; ++i) {
    require_index("trial_order", i, order[i], 0, static_cast<std::int64_t>(nodes), "a node");
    const auto node = static_cast<std::size_t>(order[i]);
    require(!seen[node], "trial_order", static_cast<std::int64_t>(i), order[i],
            "a node that does not stand there already");
    seen[node] = true;
  }
}

void validate(const DraftTree& tree, std::int64_t vocabulary) {
  const std::size_t nodes = tree.size();
  if (tree.parents.size() != nodes) {
    throw Error("parents.size", std::nullopt, std::to_string(tree.parents.size()),
                "the number of draft tokens, " + std::to_string(nodes));
  }
  bool parents_first = true;
  for (std::size_t i = 0; i < nodes; ++i) {
    require_index("token_ids", i, tree.token_ids[i], 0, vocabulary, "a token");
    require_index("parents", i, tree.parents[i], -1, static_cast<std::int64_t>(nodes),
                  "a node, or -1,");
    parents_first = parents_first && tree.parents[i] < static_cast<std::int64_t>(i);
  }
  if (!parents_first) require_no_cycle(tree.parents);
  if (!tree.trial_order.empty()) require_permutation(tree.trial_order, nodes);
}

}  // namespace

bool DraftTree::is_chain() const {
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (parents[i] != static_cast<std::int64_t>(i) - 1) return false;
  }
  return true;
}

std::vector<std::int32_t> DraftTree::path(std::int32_t node) const {
  std::vector<std::int32_t> nodes(static_cast<std::size_t>(depth(node)));
  for (auto place = nodes.rbegin(); place != nodes.rend(); ++place) {
    *place = node;
    node = parents[static_cast<std::size_t>(node)];
  }
  return nodes;
}

std::vector<std::int32_t> DraftTree::depths() const {
  const std::size_t count = parents.size();
  std::vector<std::int32_t> depths(count, 0);  // 0: not known yet
  std::vector<std::size_t> climbed;
  for (std::size_t i = 0; i < count; ++i) {
    climbed.clear();
    std::int32_t at = static_cast<std::int32_t>(i);
    const auto is_unknown = [&] {
      const bool is_node = at >= 0 && static_cast<std::size_t>(at) < count;
      return !is_node || depths[static_cast<std::size_t>(at)] == 0;
    };
    while (at != -1 && is_unknown()) {
      // No path has so many nodes or leads outside: depth says which node it is.
      if (at < 0 || static_cast<std::size_t>(at) >= count || climbed.size() == count) {
        static_cast<void>(depth(static_cast<std::int32_t>(i)));
      }
      climbed.push_back(static_cast<std::size_t>(at));
      at = parents[climbed.back()];
    }
    std::int32_t known = at == -1 ? 0 : depths[static_cast<std::size_t>(at)];
    for (auto node = climbed.rbegin(); node != climbed.rend(); ++node) depths[*node] = ++known;
  }
  return depths;
}

std::int32_t DraftTree::depth(std::int32_t node) const {
  const auto count = static_cast<std::int64_t>(parents.size());
  std::int32_t depth = 0;
  for (std::int32_t at = node; at != -1; at = parents[static_cast<std::size_t>(at)]) {
    if (at < 0 || at >= count || depth >= count) {
      throw Error("node", std::nullopt, to_text(node),
                  "a node in [-1, " + to_text(count) + ") that a path from -1 leads to");
    }
    ++depth;
  }
  return depth;
}

void validate(const DraftTree& tree, std::int64_t vocabulary, std::int64_t request) {
  try {
    validate(tree, vocabulary);
  } catch (const Error& error) {
    throw Error("draft_trees[" + to_text(request) + "]." + error.field(), error.index(),
                error.value(), error.expected());
  }
}

namespace {

/// Names a link of the cycle that `node` is reached from: as many steps back as there are nodes end
/// on it.
[[noreturn]] void refuse_cycle(std::size_t node, std::span<const std::size_t> reached_from,
                               std::span<const std::int32_t> first_child) {
  std::size_t next = node;
  for (std::size_t step = 0; step < reached_from.size(); ++step) next = reached_from[next];
  const std::size_t i = reached_from[next];
  const bool is_child = first_child[i] == static_cast<std::int64_t>(next);
  throw Error(is_child ? "token_tree_first_child" : "token_tree_next_sibling",
              static_cast<std::int64_t>(i), std::to_string(next),
              "a link that leads to -1 in the end, not back to its node");
}

}  // namespace

TokenTreeArrays flatten(std::span<const DraftTree> trees) {
  std::size_t nodes = trees.size();
  for (const DraftTree& tree : trees) nodes += tree.size();
  TokenTreeArrays arrays;
  arrays.draft_tokens.assign(nodes, -1);
  arrays.first_child.assign(nodes, -1);
  arrays.next_sibling.assign(nodes, -1);
  std::int32_t root = 0;
  for (const DraftTree& tree : trees) {
    arrays.root.push_back(root);
    // From the last one tried to the first, each goes to the front of its parent's children.
    for (std::size_t tried = tree.size(); tried-- > 0;) {
      const std::size_t i =
          tree.trial_order.empty() ? tried : static_cast<std::size_t>(tree.trial_order[tried]);
      const auto node = static_cast<std::size_t>(root) + 1 + i;
      const auto parent = static_cast<std::size_t>(root + 1 + tree.parents[i]);
      arrays.draft_tokens[node] = tree.token_ids[i];
      arrays.next_sibling[node] = arrays.first_child[parent];
      arrays.first_child[parent] = static_cast<std::int32_t>(node);
    }
    root += static_cast<std::int32_t>(tree.size()) + 1;
  }
  return arrays;
}

void validate_token_trees(std::span<const TokenId> draft_tokens,
                          std::span<const std::int32_t> first_child,
                          std::span<const std::int32_t> next_sibling,
                          std::span<const std::int32_t> parent_ptr, std::int64_t vocabulary) {
  const std::size_t nodes = draft_tokens.size();
  const auto end = static_cast<std::int64_t>(nodes);
  const auto require_length = [&](const char* field, std::size_t length) {
    if (length != nodes) {
      throw Error(field, std::nullopt, std::to_string(length) + " elements",
                  "one for each of the " + std::to_string(nodes) + " nodes");
    }
  };
  require_length("token_tree_first_child", first_child.size());
  require_length("token_tree_next_sibling", next_sibling.size());
  for (std::size_t i = 0; i < nodes; ++i) {
    require_index("token_tree_first_child", i, first_child[i], -1, end, "a node, or -1,");
    require_index("token_tree_next_sibling", i, next_sibling[i], -1, end, "a node, or -1,");
  }
  // Each node may be reached once: as a root, as somebody's first child or as somebody's next
  // sibling.
  std::vector<bool> reached(nodes, false);
  std::vector<std::size_t> reached_from(nodes);  // of nodes that are no roots
  const auto reach = [&](const char* field, std::size_t i, std::int32_t node) {
    if (node == -1) return;
    if (reached[static_cast<std::size_t>(node)]) {
      throw Error(field, static_cast<std::int64_t>(i), to_text(node),
                  "a node that nothing else leads to");
    }
    reached[static_cast<std::size_t>(node)] = true;
    reached_from[static_cast<std::size_t>(node)] = i;
  };
  for (std::size_t b = 0; b < parent_ptr.size(); ++b) {
    require_index("token_tree_parent_ptr", b, parent_ptr[b], 0, end, "a node");
    reach("token_tree_parent_ptr", b, parent_ptr[b]);
  }
  std::vector<bool> is_root = reached;
  for (std::size_t i = 0; i < nodes; ++i) {
    reach("token_tree_first_child", i, first_child[i]);
    reach("token_tree_next_sibling", i, next_sibling[i]);
  }
  // What is left out when walking from roots and from nodes that nothing leads to lies on a cycle.
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (is_root[i] || !reached[i]) open.push_back(i);
  }
  std::vector<bool> walked(nodes, false);
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    walked[node] = true;
    for (const std::int32_t next : {first_child[node], next_sibling[node]}) {
      if (next != -1) open.push_back(static_cast<std::size_t>(next));
    }
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    if (!walked[i]) refuse_cycle(i, reached_from, first_child);
    if (!is_root[i]) require_index("draft_tokens", i, draft_tokens[i], 0, vocabulary, "a token");
  }
}

}  // namespace tokkos
