// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/verify_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace tokkos::test {

/// The case with a row of its own for every node, where siblings that share a row were drawn from
/// it without replacement: each row less the tokens of earlier siblings, divided by what is left of
/// its exact sum; 1 at the token where nothing is left (below 1e-7), or where the node has no row.
inline VerifyCase with_rows_of_siblings(const VerifyCase& shared) {
  VerifyCase c = shared;
  c.row_of_node.clear();
  c.without_replacement = false;
  c.draft_probs.assign(c.draft_tokens.size() * c.width(), 0.0f);
  for (int parent = 0; parent < c.nodes(); ++parent) {
    std::map<std::int32_t, std::vector<bool>> drawn;  // of each row
    for (int child = c.first_child[parent]; child != -1; child = c.next_sibling[child]) {
      const std::int32_t token = c.draft_tokens[child];
      if (token < 0 || token >= c.vocabulary) continue;
      const std::int32_t row = shared.row_of_node[child];
      const auto out = c.draft_row(child);
      if (row < 0) {
        out[token] = 1.0f;
        continue;
      }
      const auto given = shared.draft_row(row);
      const bool is_first = !drawn.contains(row);
      std::vector<bool>& gone = drawn[row];
      gone.resize(c.width(), false);
      std::int64_t left = 0;
      for (std::size_t v = 0; v < c.width(); ++v) {
        if (!gone[v]) left += std::llrint(static_cast<double>(given[v]) * 0x1p44);
      }
      const float sum = static_cast<float>(left) * 0x1p-44f;
      for (std::size_t v = 0; v < c.width(); ++v) {
        out[v] = is_first ? given[v] : (gone[v] ? 0.0f : given[v] / sum);
      }
      if (!is_first && sum < 1e-7f) {
        std::ranges::fill(out, 0.0f);
        out[token] = 1.0f;
      }
      gone[static_cast<std::size_t>(token)] = true;
    }
  }
  return c;
}

/// The case with all children of a node on the first child's row.
inline VerifyCase with_shared_rows(const VerifyCase& c, bool without_replacement) {
  VerifyCase shared = c;
  shared.without_replacement = without_replacement;
  shared.row_of_node.assign(c.draft_tokens.size(), 0);
  for (int parent = 0; parent < c.nodes(); ++parent) {
    for (int child = c.first_child[parent]; child != -1; child = c.next_sibling[child]) {
      shared.row_of_node[child] = c.first_child[parent];
    }
  }
  return shared;
}

/// The case with the row that each node's token was drawn from as its own; row -1 is one-hot.
inline VerifyCase with_own_rows(const VerifyCase& shared) {
  if (shared.without_replacement) return with_rows_of_siblings(shared);
  VerifyCase c = shared;
  for (int node = 0; node < c.nodes(); ++node) {
    const std::int32_t row = shared.row_of_node[node];
    if (row >= 0) {
      std::ranges::copy(shared.draft_row(row), c.draft_row(node).begin());
      continue;
    }
    std::ranges::fill(c.draft_row(node), 0.0f);
    const std::int32_t token = c.draft_tokens[node];
    if (token >= 0 && token < c.vocabulary) {  // others are of nodes that no tree has
      c.draft_row(node)[static_cast<std::size_t>(token)] = 1.0f;
    }
  }
  return c;
}

}  // namespace tokkos::test
