// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/token_trees.hpp>
#include <tokkos/engine/draft_verifier.hpp>

#include <cstddef>
#include <cstdint>

namespace tokkos {

/// The trees of a call in the staging blob, with room for what verification says of them.
template <class ExecutionSpace>
struct DraftVerifier<ExecutionSpace>::StagedTrees {
  template <class T>
  using Slot = typename Staging<ExecutionSpace>::template Slot<T>;
  TokenTreeArrays arrays;
  bool chains = false;
  Slot<TokenId> draft_tokens = {};
  Slot<std::int32_t> first_child = {}, next_sibling = {}, tree_begin = {};
  // One array for all results, so that one download brings them: end nodes, accepted, bonus,
  // status.
  Slot<std::int32_t> results = {};

  std::size_t batch() const { return arrays.root.size(); }
  std::size_t nodes() const { return arrays.draft_tokens.size(); }

  Vector<std::int32_t, memory_space> result(const Staging<ExecutionSpace>& staging,
                                            std::size_t part) const {
    return vector_of<std::int32_t, memory_space>(staging.on_device(results).data() + part * batch(),
                                                 batch());
  }

  TokenTrees<memory_space> on_device(const Staging<ExecutionSpace>& staging) const {
    TokenTrees<memory_space> trees;
    trees.parent_ptr = result(staging, 0);
    if (chains) {
      trees.tree_begin = staging.on_device(tree_begin);
    } else {
      trees.first_child = staging.on_device(first_child);
      trees.next_sibling = staging.on_device(next_sibling);
    }
    return trees;
  }
};

}  // namespace tokkos
