// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/kernels/workspace.hpp>

namespace tokkos {

/// Writes the probability of every token of every row, after `measure` of the same rows.
///
/// Forbidden tokens, tokens at or past the active vocabulary and all tokens of an unusable row get
/// exactly 0; so does a probability below FLT_MIN. Asynchronous on `space`; the same bits
/// everywhere.
/// @param probabilities [n, V] float32; for float32 logits it may be `rows.logits` itself, without
///   row_index (in place: ask draw and argmax before, only log_sum_exp works after); it may not
///   overlap them otherwise; what lies between their rows does not overlap
/// @throws Error if a shape does not fit or the Views overlap (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void normalize(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
               const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
               const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities);

}  // namespace tokkos
