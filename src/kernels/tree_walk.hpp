// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/index_vector.hpp>
#include <tokkos/core/row_status.hpp>
#include <tokkos/core/types.hpp>

#include "kernels/prefix_search.hpp"
#include "kernels/probability_row.hpp"
#include "kernels/tree_links.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// Residual sums below this one count as zero.
inline constexpr float smallest_residual = 1e-7f;

/// How far the walk of a draft tree has come.
struct TreeWalk {
  std::int32_t node;  ///< last accepted node, or the root; -1 if there is no such root
  std::int32_t accepted = 0;
  std::int32_t status = 0;
  std::int32_t steps = 0;  ///< children looked at before node's own
  bool complete = false;   ///< whether every child of `node` was rejected
};

/// What a rule says of a child.
enum class Verdict { accept, reject, stop };

/// What one look at a child's two probabilities says.
enum class FirstLook { accept, reject, illegal, undecided };

/// Member 0's value of an enumeration or bool, for all: trees that wrongly share nodes rewrite each
/// other's rows, and what the members of a team read then may differ, but never the way that they
/// take.
template <class Team, class Choice>
KOKKOS_FORCEINLINE_FUNCTION Choice agreed(const Team& team, Choice value) {
  int number = static_cast<int>(value);
  team.team_broadcast(number, 0);
  return static_cast<Choice>(number);
}

/// Where the walk of tree `tree` begins.
template <class Space>
KOKKOS_FUNCTION TreeWalk walk_from_root(const TreeLinks<Space>& links, std::int64_t tree) {
  const std::int32_t root = links.root(tree);
  return root < 0 ? TreeWalk{-1, 0, RowStatus::broken_tree} : TreeWalk{root};
}

/// Walks on from the first child of walk.node. The rule decides on one child at a time:
/// rule.judge(team, parent, child, token, status) for a token inside the vocabulary, and
/// rule.skip(team, child) for one outside; rule.enter() tells it of an accepted one. Every member
/// takes the same steps, at most one per node.
template <class Team, class Space, class Rule>
KOKKOS_FUNCTION void walk_tree(const Team& team, const TreeLinks<Space>& links,
                               const IndexVector<Space>& draft_tokens, std::int64_t vocabulary,
                               Rule& rule, TreeWalk& walk) {
  if (walk.node < 0) return;
  std::int32_t child = links.first_child(walk.node);
  for (std::int32_t step = walk.steps; child != -1;) {
    if (child == broken_link || step >= links.size) {
      walk.status |= RowStatus::broken_tree;
      return;
    }
    const std::int64_t token = draft_tokens(child);
    Verdict verdict = Verdict::reject;
    if (token < 0 || token >= vocabulary) {
      walk.status |= RowStatus::invalid_draft;
      rule.skip(team, child);
    } else {
      verdict = rule.judge(team, walk.node, child, static_cast<TokenId>(token), walk.status);
    }
    if (verdict == Verdict::stop) return;
    ++step;
    if (verdict == Verdict::accept) {
      walk.node = child;
      ++walk.accepted;
      walk.steps = step;
      rule.enter();
      child = links.first_child(child);
    } else {
      child = links.next_sibling(child);
    }
  }
  walk.complete = true;
}

}  // namespace tokkos
