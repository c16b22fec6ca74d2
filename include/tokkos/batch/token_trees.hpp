// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>

#include <cstdint>

namespace tokkos {

/// Draft trees of a batch. Nodes are numbered over the whole batch; a tree's root stands for the
/// last committed token, and neither its draft token nor its draft row nor its uniform is read.
template <class MemorySpace>
struct TokenTrees {
  /// [nodes]: first child of each node, -1 for none.
  Vector<const std::int32_t, MemorySpace> first_child;
  /// [nodes]: next sibling of each node, -1 for none.
  Vector<const std::int32_t, MemorySpace> next_sibling;
  /// [batch]: each tree's root on entry, its last accepted node on return.
  Vector<std::int32_t, MemorySpace> parent_ptr;
};

}  // namespace tokkos
