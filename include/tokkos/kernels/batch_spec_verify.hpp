// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/token_trees.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>

#include <cstdint>

namespace tokkos {

namespace detail {
template <class ExecutionSpace>
void batch_spec_verify(const ExecutionSpace& space,
                       const Matrix<const float, MemoryOf<ExecutionSpace>>& draft_probs,
                       const Vector<const TokenId, MemoryOf<ExecutionSpace>>& draft_tokens,
                       const Matrix<float, MemoryOf<ExecutionSpace>>& model_probs,
                       const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                       const Vector<const float, MemoryOf<ExecutionSpace>>& uniform_samples,
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& tree_status);
}  // namespace detail

/// Verifies draft trees by the seed's rule, with the seed's arrays: from each tree's root, a child
/// C with token t is accepted if model_probs[P, t] >= uniform_samples[C] * draft_probs[C, t]; else
/// row P of model_probs becomes max(model - draft, 0) / R in place, R the exact sum of the
/// numerators, and the next sibling is tried; R below 1e-7 accepts (as in the seed; zero_residual
/// is a bit of the lossless rule, `verify_draft_trees`).
///
/// Asynchronous on `space`; the same bits everywhere.
/// @param draft_probs [nodes, V] distribution that each node's token was drawn from
/// @param draft_tokens [nodes]
/// @param model_probs [nodes, V] target's distribution after each node; rejected rows are rewritten
/// @param token_tree_first_child, token_tree_next_sibling [nodes], -1 for none
/// @param uniform_samples [nodes], clamped to [0, 1 - 2^-24]
/// @param token_tree_parent_ptr [batch] each tree's root on entry, its last accepted node on return
///   (trees share no node: validate_token_trees checks that on the host)
/// @param tree_status [batch] or empty: invalid_draft (rejected), broken_tree, invalid_parameter (a
///   uniform that is NaN) and invalid_probability end that tree's walk at the last accepted node;
///   with the last two that node's row of model_probs is set to 0
/// @throws Error if a shape does not fit, V >= 2^19 or draft_probs and model_probs overlap (nothing
/// is launched) Source: the seed's kernel of the same name.
template <class ExecutionSpace>
void batch_spec_verify(
    const ExecutionSpace& space, const Matrix<const float, MemoryOf<ExecutionSpace>>& draft_probs,
    const Vector<const TokenId, MemoryOf<ExecutionSpace>>& draft_tokens,
    const Matrix<float, MemoryOf<ExecutionSpace>>& model_probs,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& token_tree_first_child,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& token_tree_next_sibling,
    const Vector<const float, MemoryOf<ExecutionSpace>>& uniform_samples,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& token_tree_parent_ptr,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& tree_status = {}) {
  detail::batch_spec_verify(
      space, draft_probs, draft_tokens, model_probs,
      {token_tree_first_child, token_tree_next_sibling, token_tree_parent_ptr}, uniform_samples,
      tree_status);
}

}  // namespace tokkos
