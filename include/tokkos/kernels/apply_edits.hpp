// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include <cstdint>

namespace tokkos {

/// Biases, then penalties, in one launch: the same bits as apply_logit_bias_inplace followed by
/// apply_penalty_inplace.
///
/// Each (row, token) may stand in one of the two lists only: a bias of a penalized token goes into
/// PenaltyEdits::biases. Asynchronous on `space`.
/// @param logits [n, V], rows may be padded
/// @param row_status [n] or empty: invalid_edit, as of the two kernels
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void apply_edits(const ExecutionSpace& space, const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                 const LogitBiasEdits<MemoryOf<ExecutionSpace>>& biases,
                 const PenaltyEdits<MemoryOf<ExecutionSpace>>& penalties,
                 const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {});

}  // namespace tokkos
