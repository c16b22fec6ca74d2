// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/index_vector.hpp>
#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/token_trees.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>

#include <cstdint>

namespace tokkos {

/// What `verify_greedy` writes besides TokenTrees::parent_ptr.
template <class MemorySpace>
struct GreedyTrees {
  Vector<std::int32_t, MemorySpace> accepted;     ///< [batch] number of accepted draft tokens
  Vector<TokenId, MemorySpace> bonus_tokens;      ///< [batch] token after the last one, or -1
  Vector<std::int32_t, MemorySpace> tree_status;  ///< [batch] or empty
  /// [nodes, chunk_count(V)] scratch, or empty: with it, all threads of the device first find the
  /// maxima of every node's row by chunk, where nodes are few (see shares_rows).
  Matrix<std::int64_t, MemorySpace> chunk_maxima = {};
};

/// Whether so few nodes leave threads of the device idle that GreedyTrees::chunk_maxima pays.
template <class ExecutionSpace>
bool shares_rows(const ExecutionSpace& space, std::int64_t nodes, std::int64_t vocabulary);

/// Verifies draft trees for greedy decoding, from logits: a child is accepted iff its token is the
/// argmax of its parent's row (the lowest id of the maximum, as `argmax` has it), and the bonus
/// token is the argmax of the last accepted node's row. No probabilities are made. In one launch, a
/// team a tree, which reads only the rows on that path; or, with GreedyTrees::chunk_maxima, in two,
/// the first of which reads every node's row with the whole device.
///
/// Asynchronous on `space`; the same tokens and status bits everywhere and in both ways.
/// @param rows [nodes] logits after each node (probabilities do as well: the order is the same);
///   mask, row index and active vocabulary as everywhere, temperatures are not read
/// @param draft_tokens [nodes], roots' are not read
///
/// Status bits: nan_logit, positive_infinity, empty, invalid_parameter (a row index out of range)
/// of the row where the walk ended, with bonus -1; invalid_draft (a token tried lies outside the
/// vocabulary, it is passed over); broken_tree, with bonus -1. Trees that wrongly share nodes get
/// what each would get alone.
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void verify_greedy(const ExecutionSpace& space,
                   const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                   const IndexVector<MemoryOf<ExecutionSpace>>& draft_tokens,
                   const TokenTrees<MemoryOf<ExecutionSpace>>& trees,
                   const GreedyTrees<MemoryOf<ExecutionSpace>>& result);

}  // namespace tokkos
