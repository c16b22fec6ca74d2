// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/token_trees.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>

#include <cstdint>

namespace tokkos {

/// What `verify_draft_trees` reads besides the trees.
template <class MemorySpace>
struct DraftDistributions {
  Matrix<const float, MemorySpace>
      draft_probs;  ///< [nodes, V] what each node's token was drawn from
  Vector<const TokenId, MemorySpace> draft_tokens;  ///< [nodes]
  Matrix<const float, MemorySpace>
      model_probs;                            ///< [nodes, V] target's distribution after each node
  Vector<const float, MemorySpace> uniforms;  ///< [nodes] one per node, roots' are not read
  Vector<const float, MemorySpace> bonus_uniforms;  ///< [batch] one per tree
};

/// What it writes besides TokenTrees::parent_ptr.
template <class MemorySpace>
struct VerifiedTrees {
  Vector<std::int32_t, MemorySpace> accepted;  ///< [batch] number of accepted draft tokens
  Vector<TokenId, MemorySpace> bonus_tokens;   ///< [batch] token after the last accepted one, or -1
  Vector<float, MemorySpace> residual_sums;    ///< [nodes] scratch: R of each rejected node
  Vector<std::int32_t, MemorySpace> tree_status;  ///< [batch] or empty
};

/// Verifies draft trees losslessly and draws each tree's bonus token, in one launch.
///
/// At parent P, child C with token t is accepted iff p > 0 and u * q < p, with p the mass of t in
/// P's distribution (the target's, less the siblings rejected before), q = draft_probs[C, t] and u
/// = uniforms[C]. A rejection subtracts: p becomes max(p - q, 0) / R, R the exact sum; R below 1e-7
/// leaves p as it is and sets zero_residual. The bonus token is drawn from what is left at the last
/// accepted node. If sibling i is drawn from the q passed for it, given its earlier siblings, and
/// the uniforms are independent of the drafts, the emitted tokens follow the target's law exactly.
/// model_probs is not written. Asynchronous on `space`; the same bits everywhere.
///
/// Status bits: zero_residual; invalid_draft (that child is rejected as if it were not there);
/// broken_tree, invalid_parameter (NaN uniform) and invalid_probability (also a target row
/// whose sum is not within 1% of 1 when the bonus is drawn from it) end the tree's walk with bonus
/// -1; empty: the row that the bonus is drawn from is all 0.
/// @throws Error if a shape does not fit or V >= 2^19 (nothing is launched)
/// Source: Leviathan et al. 2023; Chen et al. 2023; for siblings without replacement, Miao et al.
/// (SpecInfer) 2024 and Jeon et al. 2024.
template <class ExecutionSpace>
void verify_draft_trees(const ExecutionSpace& space,
                        const DraftDistributions<MemoryOf<ExecutionSpace>>& distributions,
                        const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                        const VerifiedTrees<MemoryOf<ExecutionSpace>>& result);

}  // namespace tokkos
