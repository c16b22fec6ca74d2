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

/// Natural logarithms of the probabilities of given tokens, m of each row, after `measure` of the
/// same rows: drawn tokens, or the tokens that follow.
///
/// With M, S and the measures' T: (x - M) / T - log(S), of which neither a probability nor a
/// log-sum-exp is made, so that tokens too rare for a float32 probability keep a finite value. With
/// cuts, a truncated row's kept tokens get (x - M) / T - log(mass of the cut), the others -inf. In
/// a greedy row the k maxima get -log(k), the others -inf. Forbidden tokens, ids outside [0, active
/// vocabulary) and all tokens of an unusable row get -inf. Measured as the step draws (after edits,
/// with its temperatures) they are "processed", measured before edits at temperature 1 "raw".
///
/// Scoring a prompt of n + 1 tokens is two calls over its n rows of logits, `measure` and this one
/// with the next token of each row; nothing of the size rows x vocabulary is written.
///
/// Error against exact arithmetic, with z = (x - M) / T, E the mean of |z| over the distribution, L
/// the logarithm that is subtracted and l the result: at most (3.01 |z| + 3 E + 14 + 2.2 |L| + |l|)
/// * 2^-24. Asynchronous on `space`, one launch; the same bits everywhere.
/// @param tokens [n, m]; -1 stands for no token: -inf
/// @param result [n, m] float32
/// @param cuts of these rows, or empty: no row is truncated
/// @param row_status [n] or empty; an id below -1, or at or past V, sets invalid_draft
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void log_probabilities(const ExecutionSpace& space,
                       const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                       const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                       const Matrix<const TokenId, MemoryOf<ExecutionSpace>>& tokens,
                       const Matrix<float, MemoryOf<ExecutionSpace>>& result,
                       const RowCuts<MemoryOf<ExecutionSpace>>& cuts = {},
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {});

/// The same of one token per row.
/// @param tokens [n]
/// @param result [n] float32
template <class ExecutionSpace, LogitType Logit>
void log_probabilities(const ExecutionSpace& space,
                       const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                       const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                       const Vector<const TokenId, MemoryOf<ExecutionSpace>>& tokens,
                       const Vector<float, MemoryOf<ExecutionSpace>>& result,
                       const RowCuts<MemoryOf<ExecutionSpace>>& cuts = {},
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {});

}  // namespace tokkos
