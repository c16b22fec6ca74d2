// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

namespace tokkos::test {

/// An ordered tree. Node 0 is its root; every parent comes before its children, and siblings are in
/// the order of their numbers.
struct TreeShape {
  std::vector<int> parent = {-1};

  int nodes() const { return static_cast<int>(parent.size()); }
  int drafted() const { return nodes() - 1; }

  std::vector<int> children(int node) const {
    std::vector<int> found;
    for (int child = node + 1; child < nodes(); ++child) {
      if (parent[child] == node) found.push_back(child);
    }
    return found;
  }

  int depth(int node) const { return node == 0 ? 0 : 1 + depth(parent[node]); }

  int height() const {
    int height = 0;
    for (int node = 0; node < nodes(); ++node) height = std::max(height, depth(node));
    return height;
  }
};

/// Every ordered tree of a root and `drafted` more nodes, each once: 1, 1, 2, 5, 14, 42 of them.
inline std::vector<TreeShape> tree_shapes(int drafted) {
  if (drafted == 0) return {TreeShape{}};
  std::vector<TreeShape> shapes;
  for (const TreeShape& smaller : tree_shapes(drafted - 1)) {
    // The last node of a walk from the root, children in order, hangs below the one before it or
    // below one of that one's ancestors.
    for (int parent = smaller.nodes() - 1; parent >= 0; parent = smaller.parent[parent]) {
      shapes.push_back(smaller);
      shapes.back().parent.push_back(parent);
    }
  }
  return shapes;
}

}  // namespace tokkos::test
