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

/// Where the walk of a draft tree ended.
struct WalkEnd {
  std::int32_t node;      ///< last accepted node, or the root; -1 if there is no such root
  std::int32_t accepted;  ///< number of accepted nodes
  std::int32_t status;
  bool complete;  ///< false if bad data ended the walk
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

/// Walks tree `tree` from its root. The rule decides on one child at a time:
/// rule.judge(team, parent, child, token, status) for a token inside the vocabulary, and
/// rule.skip(team, child) for one outside. Every member takes the same steps, at most one per node.
template <class Team, class Space, class Rule>
KOKKOS_FUNCTION WalkEnd walk_tree(const Team& team, const TreeLinks<Space>& links,
                                  const IndexVector<Space>& draft_tokens, std::int64_t vocabulary,
                                  std::int64_t tree, const Rule& rule) {
  std::int32_t parent = links.root(tree);
  if (parent < 0) return {-1, 0, RowStatus::broken_tree, false};
  WalkEnd end{parent, 0, 0, false};
  std::int32_t child = links.first_child(parent);
  for (std::int64_t step = 0; child != -1; ++step) {
    if (child == broken_link || step >= links.size) {
      end.status |= RowStatus::broken_tree;
      return end;
    }
    const std::int64_t token = draft_tokens(child);
    Verdict verdict = Verdict::reject;
    if (token < 0 || token >= vocabulary) {
      end.status |= RowStatus::invalid_draft;
      rule.skip(team, child);
    } else {
      verdict = rule.judge(team, parent, child, static_cast<TokenId>(token), end.status);
    }
    if (verdict == Verdict::stop) return end;
    if (verdict == Verdict::accept) {
      parent = child;
      end.node = child;
      ++end.accepted;
      child = links.first_child(child);
    } else {
      child = links.next_sibling(child);
    }
  }
  end.complete = true;
  return end;
}

}  // namespace tokkos
