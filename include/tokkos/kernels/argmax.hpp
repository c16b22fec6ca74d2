// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/workspace.hpp>

namespace tokkos {

/// The lowest id among the largest allowed logits of every row, after `measure` of the same rows.
///
/// Asynchronous on `space`; the same token everywhere, whatever the temperatures.
/// @param tokens [n]: the tokens, -1 for an unusable row
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void argmax(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
            const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
            const Vector<TokenId, MemoryOf<ExecutionSpace>>& tokens);

}  // namespace tokkos
