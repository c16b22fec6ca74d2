// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <cstdint>

namespace tokkos {

/// Keeps the logits that `apply_edits` of the same two lists is about to change, so that
/// `raw_log_probabilities` finds them afterwards: memory grows with the edits, never with rows x
/// vocabulary. Asynchronous on `space`, at most one launch.
/// @param logits [n, V], not yet edited
/// @param saved [biases + penalties] float32, written: one logit for each entry, biases first;
///   -infinity for an entry whose row, position or token is out of range
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void save_edited_logits(const ExecutionSpace& space,
                        const Matrix<const Logit, MemoryOf<ExecutionSpace>>& logits,
                        const LogitBiasEdits<MemoryOf<ExecutionSpace>>& biases,
                        const PenaltyEdits<MemoryOf<ExecutionSpace>>& penalties,
                        const Vector<float, MemoryOf<ExecutionSpace>>& saved);

/// Log-probabilities of tokens, one of each row, in the distribution that the logits had before
/// they were edited: what `log_probabilities` would have given there, bit for bit.
///
/// Use: `measure` and `save_edited_logits` before the edits, this after them and before anything
/// else changes the logits. Asynchronous on `space`, at most two launches; the same bits
/// everywhere.
/// @param rows n rows of the edited logits, with the temperatures of `measures` (1 for the model's
///   own distribution), without row_index and bitmask
/// @param measures of the same rows before the edits
/// @param biases, penalties, saved as of save_edited_logits; each (row, token) at most once
/// @param tokens [n]; -1 stands for no token: -inf
/// @param result [n] float32
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void raw_log_probabilities(const ExecutionSpace& space,
                           const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                           const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                           const LogitBiasEdits<MemoryOf<ExecutionSpace>>& biases,
                           const PenaltyEdits<MemoryOf<ExecutionSpace>>& penalties,
                           const Vector<const float, MemoryOf<ExecutionSpace>>& saved,
                           const Vector<const TokenId, MemoryOf<ExecutionSpace>>& tokens,
                           const Vector<float, MemoryOf<ExecutionSpace>>& result);

}  // namespace tokkos
