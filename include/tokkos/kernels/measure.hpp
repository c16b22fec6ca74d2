// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <cstdint>

namespace tokkos {

/// Reads every row once: mask, temperature, the pair of each chunk and the total of each row.
///
/// Asynchronous on `space`; allocates nothing. The result is the same bits on every backend, alone
/// or in any batch. Differences of logits are taken in float32: a token more than FLT_MAX below its
/// chunk's maximum has probability 0 at any temperature.
/// @param rows n rows of V logits
/// @param measures written: Workspace::measures(n) of a workspace for at least n rows of V
/// @param row_status [n] or empty; bits nan_logit, positive_infinity, empty, invalid_parameter are
///   ORed into it
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void measure(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
             const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
             const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {});

}  // namespace tokkos
