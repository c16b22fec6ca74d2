// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/index_vector.hpp>
#include <tokkos/batch/token_trees.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>

#include <cstdint>

namespace tokkos {

/// Verifies draft trees by the seed's rule, with the seed's arrays: from each tree's root, a child
/// C with token t is accepted if model_probs[P, t] >= uniform_samples[C] * draft_probs[C, t]; else
/// row P of model_probs becomes max(model - draft, 0) / R in place, R the exact sum of the
/// numerators, and the next sibling is tried; R below 1e-7 accepts (as in the seed; zero_residual
/// is a bit of the lossless rule, `verify_draft_trees`).
///
/// Asynchronous on `space`; the same bits everywhere.
/// @param draft_probs [rows, V] distributions that tokens were drawn from: node i's is row i, or
///   row draft_row[i]. Empty: every node is one-hot, q = 1 at its token and 0 elsewhere
/// @param draft_tokens [nodes] int32 or int64
/// @param model_probs [nodes, V] target's distribution after each node; rejected rows are rewritten
/// @param trees links int32 or int64, see TokenTrees; parent_ptr [batch] each tree's root on entry,
///   its last accepted node on return. Trees share no node, as validate_token_trees checks on the
///   host; those that do end within the arrays, change no other tree's rows, and are unspecified
/// @param uniform_samples [nodes], clamped to [0, 1 - 2^-24]
/// @param tree_status [batch] or empty: invalid_draft (rejected), broken_tree, invalid_parameter (a
///   uniform that is NaN) and invalid_probability end that tree's walk at the last accepted node;
///   with the last two that node's row of model_probs is set to 0
/// @param draft_row [nodes] or empty: row of draft_probs of each node, -1 for one-hot
/// @throws Error if a shape does not fit, V >= 2^19 or draft_probs and model_probs overlap (nothing
/// is launched) Source: the seed's kernel of the same name.
template <class ExecutionSpace>
void batch_spec_verify(const ExecutionSpace& space,
                       const Matrix<const float, MemoryOf<ExecutionSpace>>& draft_probs,
                       const IndexVector<MemoryOf<ExecutionSpace>>& draft_tokens,
                       const Matrix<float, MemoryOf<ExecutionSpace>>& model_probs,
                       const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                       const Vector<const float, MemoryOf<ExecutionSpace>>& uniform_samples,
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& tree_status = {},
                       const IndexVector<MemoryOf<ExecutionSpace>>& draft_row = {});

/// The same with the seed's list of arguments: token_tree_first_child, token_tree_next_sibling
/// [nodes] number the nodes of the batch, -1 for none.
template <class ExecutionSpace>
void batch_spec_verify(const ExecutionSpace& space,
                       const Matrix<const float, MemoryOf<ExecutionSpace>>& draft_probs,
                       const IndexVector<MemoryOf<ExecutionSpace>>& draft_tokens,
                       const Matrix<float, MemoryOf<ExecutionSpace>>& model_probs,
                       const IndexVector<MemoryOf<ExecutionSpace>>& token_tree_first_child,
                       const IndexVector<MemoryOf<ExecutionSpace>>& token_tree_next_sibling,
                       const Vector<const float, MemoryOf<ExecutionSpace>>& uniform_samples,
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& token_tree_parent_ptr,
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& tree_status = {}) {
  TokenTrees<MemoryOf<ExecutionSpace>> trees;
  trees.first_child = token_tree_first_child;
  trees.next_sibling = token_tree_next_sibling;
  trees.parent_ptr = token_tree_parent_ptr;
  batch_spec_verify(space, draft_probs, draft_tokens, model_probs, trees, uniform_samples,
                    tree_status);
}

}  // namespace tokkos
