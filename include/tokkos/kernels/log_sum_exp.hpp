// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/kernels/workspace.hpp>

namespace tokkos {

/// Natural logarithm of the sum of exp(x / T) over the allowed tokens of every row, after
/// `measure`.
///
/// M / T + portable_log(S), saturating at +-FLT_MAX; a greedy row gives its maximum M, an unusable
/// row -infinity. Asynchronous on `space`; the same bits everywhere.
/// @param result [n] float32
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void log_sum_exp(const ExecutionSpace& space,
                 const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                 const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                 const Vector<float, MemoryOf<ExecutionSpace>>& result);

}  // namespace tokkos
