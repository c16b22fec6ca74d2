// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/index_vector.hpp>
#include <tokkos/batch/token_trees.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>

#include <cstdint>

namespace tokkos {

/// What `verify_draft_trees` reads besides the trees.
template <class MemorySpace>
struct DraftDistributions {
  /// [rows, V] what tokens were drawn from. Without draft_row node i's is row i; empty: every
  /// node's token was chosen, not drawn (one-hot).
  Matrix<const float, MemorySpace> draft_probs;
  IndexVector<MemorySpace> draft_tokens;  ///< [nodes]
  Matrix<const float, MemorySpace>
      model_probs;                            ///< [nodes, V] target's distribution after each node
  Vector<const float, MemorySpace> uniforms;  ///< [nodes] one per node, roots' are not read
  Vector<const float, MemorySpace> bonus_uniforms;  ///< [batch] one per tree
  /// [nodes] or empty: row of draft_probs of each node, -1 for one-hot: q = 1 at the node's own
  /// token and 0 elsewhere, and no row is stored or read. Roots' are not read.
  IndexVector<MemorySpace> draft_row = {};
  /// Whether siblings that share a row were drawn from it without replacement: for each, the row
  /// with its earlier such siblings' tokens zeroed and renormalized is taken (see below). Needs
  /// VerifiedTrees::draft_masses.
  bool without_replacement = false;
  /// Tokens at or past it do not exist: model_probs is not read there, and a draft of one is
  /// rejected as any other that the target forbids. In [1, V]; 0: V.
  std::int64_t active_vocabulary = 0;
};

/// The sums over the vocabulary that a tree's walk comes upon: R of a rejected child, the mass of
/// the row that siblings were drawn from without replacement, and what the bonus is drawn from.
enum class SumKind : std::int32_t { none, residual, draft_row, rest };

/// Scratch: a tree whose walk waits for such a sum.
struct PausedWalk {
  std::int32_t node = -1;          ///< where it stands, the last one that was accepted
  std::int32_t accepted = 0;       ///< number of nodes that were accepted
  std::int32_t status = 0;         ///< RowStatus bits so far
  std::int32_t steps = 0;          ///< nodes that it has tried
  std::int32_t sums = 0;           ///< sums that were made for it
  SumKind wanted = SumKind::none;  ///< none: the tree is done
  std::int32_t wanted_node = -1;   ///< whose sum
};

/// Sums of a tree that the whole device makes for DraftVerifier, at most (docs/decisions/0010).
inline constexpr int shared_sums = 4;

/// What it writes besides TokenTrees::parent_ptr.
template <class MemorySpace>
struct VerifiedTrees {
  Vector<std::int32_t, MemorySpace> accepted;  ///< [batch] number of accepted draft tokens
  Vector<TokenId, MemorySpace> bonus_tokens;   ///< [batch] token after the last accepted one, or -1
  /// [nodes] scratch: R of each rejected node; 0 or less where it was not used.
  Vector<float, MemorySpace> residual_sums;
  Vector<std::int32_t, MemorySpace> tree_status;  ///< [batch] or empty
  /// [nodes] scratch, with without_replacement only: what earlier siblings left of a node's row.
  Vector<std::int64_t, MemorySpace> draft_masses = {};
  /// [batch] scratch, or empty: with it, the first sums of each tree are split by chunk over all
  /// threads of the device, where trees are too few to keep it busy (see shares_trees).
  Vector<PausedWalk, MemorySpace> paused = {};
  /// [batch, N * chunk_count(V)] scratch, with `paused` only: the first N sums of each tree are so
  /// split; what comes behind them its own team makes. N such as shared_sums; chains need 2.
  Matrix<std::int64_t, MemorySpace> chunk_masses = {};
};

/// Whether so few trees leave threads of the device idle that VerifiedTrees::paused pays.
template <class ExecutionSpace>
bool shares_trees(const ExecutionSpace& space, std::int64_t batch, std::int64_t vocabulary);

/// Verifies draft trees losslessly and draws each tree's bonus token: in one launch, a team a tree;
/// or, with VerifiedTrees::paused, in 1 + 2 N (chains without links: 5 at most), the sums split
/// over the device.
///
/// At parent P, child C with token t is accepted iff p > 0 and u * q < p, with p the mass of t in
/// P's distribution (the target's, less the siblings rejected before), q the mass that t was drawn
/// with and u = uniforms[C]. A rejection subtracts: p becomes max(p - q, 0) / R, R the exact sum; R
/// below 1e-7 leaves p as it is and sets zero_residual. The bonus token is drawn from what is left
/// at the last accepted node. If sibling i is drawn from the q passed for it, given its earlier
/// siblings, and the uniforms are independent of the drafts, the emitted tokens follow the target's
/// law exactly. model_probs is not written. Asynchronous on `space`; the same bits everywhere.
///
/// A one-hot draft has the outcome of a dense row with 1 at the token, bit for bit, wherever the
/// target's rows sum to 1 within 1%. It costs the same for any V until the bonus token is drawn:
/// accepting it takes p alone, and its R is summed only if the bonus token is drawn at P or if a
/// later sibling's u lies within the 2% or so of its threshold that p alone cannot tell (or less
/// than 1/20 of P's mass is left). So of P's row no more than this is checked.
///
/// Without replacement: b[v] = RNE(row[v] * 2^44) and Q = sum of b, exactly; the first sibling of a
/// row has q = row; a later one q[v] = row[v] / float(Z * 2^-44) (one division), with Z = Q less
/// the b of the earlier siblings' tokens, each once, and 0 at these tokens. Where Z * 2^-44 is
/// below 1e-7 the token cannot have been drawn; it counts as one-hot.
///
/// Status bits: zero_residual; invalid_draft (token or draft_row out of range: that child is
/// rejected as if it were not there); broken_tree, invalid_parameter (NaN uniform) and
/// invalid_probability (also a target row whose sum is not within 1% of 1 when the bonus is drawn
/// from it, or a draft row drawn from without replacement) end the tree's walk with bonus -1;
/// empty: the row that the bonus is drawn from is all 0.
///
/// Trees share no node: validate_token_trees and draft_tree_of_links see to it on the host, and
/// with nodes_per_tree no links can do otherwise. Where arrays of the device break it, nothing is
/// written outside the arrays and every walk ends, but what trees with a node in common accept and
/// draw is unspecified, their status too, and may differ from call to call; no other tree changes.
/// @throws Error if a shape does not fit, V >= 2^19, or there are nodes and active_vocabulary is
///   not in [0, V]; nothing is launched then
///
/// Source: Leviathan et al. 2023; Chen et al. 2023; for siblings without replacement, Miao et al.
/// (SpecInfer) 2024 and Jeon et al. 2024.
template <class ExecutionSpace>
void verify_draft_trees(const ExecutionSpace& space,
                        const DraftDistributions<MemoryOf<ExecutionSpace>>& distributions,
                        const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                        const VerifiedTrees<MemoryOf<ExecutionSpace>>& result);

}  // namespace tokkos
