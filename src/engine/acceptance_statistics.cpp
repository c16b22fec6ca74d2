// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/acceptance_statistics.hpp>

#include <algorithm>
#include <cstddef>

namespace tokkos {

void AcceptanceStatistics::add(const DraftTree& tree, std::span<const std::int32_t> path,
                               bool complete) {
  tried.reserve(path.size() + 1);  // with what follows, all that may throw, before anything counts
  accepted.reserve(path.size() + 1);
  // The place on the path, counted from 1, of every node whose children may have been tried.
  std::vector<std::size_t> place(tree.size() + 1, 0);
  place[0] = 1;  // what the tree's first nodes follow
  for (std::size_t i = 0; i < path.size(); ++i) {
    place[static_cast<std::size_t>(path[i]) + 1] = i + 2;
  }
  // By depth, whether the walk had not yet accepted a node there.
  std::vector<bool> goes_on(path.size(), true);
  ++trees;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const std::size_t node =
        tree.trial_order.empty() ? i : static_cast<std::size_t>(tree.trial_order[i]);
    const std::size_t of_parent = place[static_cast<std::size_t>(tree.parents[node] + 1)];
    if (of_parent == 0) continue;
    const std::size_t depth = of_parent - 1;  // index of the node's own depth
    const bool was_tried = depth < path.size() ? goes_on[depth] : complete;
    if (!was_tried) continue;
    if (tried.size() <= depth) {
      tried.resize(depth + 1, 0);
      accepted.resize(depth + 1, 0);
    }
    ++tried[depth];
    if (depth < path.size() && path[depth] == static_cast<std::int32_t>(node)) {
      ++accepted[depth];
      goes_on[depth] = false;
    }
  }
}

}  // namespace tokkos
