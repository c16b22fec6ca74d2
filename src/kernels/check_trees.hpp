// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/token_trees.hpp>

#include "kernels/check_views.hpp"

#include <cstdint>

namespace tokkos {

/// Throws unless the arrays of a verification describe the same nodes and vocabulary.
template <class Space>
void check_trees(const Matrix<const float, Space>& draft_probs,
                 const Vector<const TokenId, Space>& draft_tokens,
                 const Matrix<const float, Space>& model_probs, const TokenTrees<Space>& trees,
                 const Vector<const float, Space>& uniforms) {
  const auto nodes = static_cast<std::int64_t>(model_probs.extent(0));
  const auto vocabulary = static_cast<std::int64_t>(model_probs.extent(1));
  if (nodes > 0) check_vocabulary(vocabulary, 0);
  check_matrix("model_probs", model_probs, nodes, vocabulary);
  check_matrix("draft_probs", draft_probs, nodes, vocabulary);
  check_vector("draft_tokens", draft_tokens, nodes);
  check_vector("token_tree_first_child", trees.first_child, nodes);
  check_vector("token_tree_next_sibling", trees.next_sibling, nodes);
  check_vector("uniform_samples", uniforms, nodes);
}

}  // namespace tokkos
