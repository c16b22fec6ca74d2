// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::tools {

/// Shape of a draft tree: every node of depth d has children[d] children; the last committed token
/// is of depth 0. Children of one level are numbered first children first, so that siblings stand
/// in the order in which they are drawn.
struct TreeShape {
  static constexpr std::int32_t max_nodes = 1024;

  std::vector<std::int32_t> children;

  /// Nodes of depth `depth`; 1 for depth 0.
  std::int32_t width(std::size_t depth) const;
  /// Draft nodes, all depths above 0.
  std::int32_t nodes() const;
};

/// "chain:K" is K nodes one after the other; "AxBxC" A children, each with B children, each with C.
/// @throws Error that names the tree unless it has 1 to 1024 nodes
TreeShape parse_tree_shape(const std::string& text);

}  // namespace tokkos::tools
