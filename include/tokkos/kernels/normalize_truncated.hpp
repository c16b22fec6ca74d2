// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/truncation.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/kernels/workspace.hpp>

namespace tokkos {

/// Writes the renormalized probability of every token of every row, after `measure` and `truncate`
/// of the same rows.
///
/// With a = RNE(exp((x - row maximum) / T) * 2^44), a kept token gets float32(a) / float32(mass of
/// the cut), every other one exactly 0. A row that is not truncated gets the bits of `normalize`,
/// an unusable one 0. Chunks of which nothing is kept are not read. Asynchronous on `space`; the
/// same bits everywhere.
/// @param cuts of these rows
/// @param probabilities [n, V] float32; for float32 logits it may be `rows.logits` itself, without
///   row_index (in place: ask draw_tokens and log-probabilities before); it may not overlap them
///   otherwise; what lies between their rows does not overlap
/// @throws Error if a shape does not fit or the Views overlap (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void normalize_truncated(const ExecutionSpace& space,
                         const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                         const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                         const RowCuts<MemoryOf<ExecutionSpace>>& cuts,
                         const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities);

}  // namespace tokkos
