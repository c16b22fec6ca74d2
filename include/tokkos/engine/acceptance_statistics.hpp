// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/draft_tree.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tokkos {

/// How many draft nodes were tried, and how many of these accepted, at each depth; index 0 is depth
/// 1, the children of the last committed token. A node is tried if the walk of its tree came to it.
struct AcceptanceStatistics {
  std::vector<std::int64_t> tried;     ///< [depths]
  std::vector<std::int64_t> accepted;  ///< [depths]
  std::int64_t trees = 0;              ///< verified, those without nodes included

  /// Adds one tree whose walk accepted the nodes of `path`, from the root down; `complete` is false
  /// if bad data ended it, and then what it tried after them is not counted. O(nodes).
  void add(const DraftTree& tree, std::span<const std::int32_t> path, bool complete = true);
};

}  // namespace tokkos
