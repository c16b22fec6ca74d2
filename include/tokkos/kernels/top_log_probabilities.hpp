// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/truncation.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <cstdint>

namespace tokkos {

/// The most tokens that top_log_probabilities lists for a row.
inline constexpr int max_top_tokens = 128;

/// The first N tokens of each row in the order of their logits (largest first, -0 equal to +0, then
/// the lowest id) and their log-probabilities, after `measure` of the same rows.
///
/// Only allowed tokens are listed, and only kept ones where rows are truncated; places that are
/// left hold token -1 and -inf, all places of an unusable row too. The values are those of
/// `log_probabilities` for the same tokens, so in a greedy row -inf behind the maxima. No row is
/// sorted. Asynchronous on `space`, one launch; the same bits everywhere.
/// @param tokens [n, N], N in [0, max_top_tokens]
/// @param result [n, N] float32
/// @param cuts of these rows, or empty: no row is truncated
/// @param counts [n]: tokens to list of each row, 0 for none; clamped to [0, N]. Empty: N of each
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void top_log_probabilities(const ExecutionSpace& space,
                           const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                           const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                           const Matrix<TokenId, MemoryOf<ExecutionSpace>>& tokens,
                           const Matrix<float, MemoryOf<ExecutionSpace>>& result,
                           const RowCuts<MemoryOf<ExecutionSpace>>& cuts = {},
                           const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& counts = {});

}  // namespace tokkos
