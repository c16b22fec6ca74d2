// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/token_trees.hpp>
#include <tokkos/core/row_status.hpp>
#include <tokkos/core/types.hpp>

#include "kernels/prefix_search.hpp"
#include "kernels/probability_row.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// Residual sums below this one count as zero.
inline constexpr float smallest_residual = 1e-7f;

/// Where the walk of a draft tree ended.
struct WalkEnd {
  std::int32_t node;      ///< last accepted node, or the root
  std::int32_t accepted;  ///< number of accepted nodes
  std::int32_t status;
  bool complete;  ///< false if bad data ended the walk
};

/// What a rule says of a child.
enum class Verdict { accept, reject, stop };

/// What one look at a child's two probabilities says.
enum class FirstLook { accept, illegal, undecided };

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
/// rule.judge(team, parent, child, token, u, status) for a token inside the vocabulary, and
/// rule.skip(team, child) for one outside; rule.spoil(team, parent) ends a walk that met a uniform
/// that is none. Every member takes the same steps, at most one per node.
template <class Team, class Space, class Rule>
KOKKOS_FUNCTION WalkEnd walk_tree(const Team& team, const TokenTrees<Space>& trees,
                                  const Vector<const TokenId, Space>& draft_tokens,
                                  const Vector<const float, Space>& uniforms,
                                  std::int64_t vocabulary, std::int64_t tree, const Rule& rule) {
  const auto nodes = static_cast<std::int64_t>(trees.first_child.extent(0));
  std::int32_t parent = trees.parent_ptr(tree);
  WalkEnd end{parent, 0, 0, false};
  if (parent < 0 || parent >= nodes) {
    end.status = RowStatus::broken_tree;
    return end;
  }
  std::int32_t child = trees.first_child(parent);
  for (std::int64_t step = 0; child != -1; ++step) {
    if (child < 0 || child >= nodes || step >= nodes) {
      end.status |= RowStatus::broken_tree;
      return end;
    }
    const TokenId token = draft_tokens(child);
    Verdict verdict = Verdict::reject;
    if (token < 0 || token >= vocabulary) {
      end.status |= RowStatus::invalid_draft;
      rule.skip(team, child);
    } else {
      const float u = clamped_uniform(uniforms(child));
      if (u != u) {
        end.status |= RowStatus::invalid_parameter;
        rule.spoil(team, parent);
        return end;
      }
      verdict = rule.judge(team, parent, child, token, u, end.status);
    }
    if (verdict == Verdict::stop) return end;
    if (verdict == Verdict::accept) {
      parent = child;
      end.node = child;
      ++end.accepted;
      child = trees.first_child(child);
    } else {
      child = trees.next_sibling(child);
    }
  }
  end.complete = true;
  return end;
}

}  // namespace tokkos
