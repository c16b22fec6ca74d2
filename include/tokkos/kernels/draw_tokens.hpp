// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/truncation.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <cstdint>

namespace tokkos {

/// Draws d tokens per row, after `measure` and, where rows are truncated, `truncate` of the same
/// rows.
///
/// In a truncated row a uniform u selects in the exact integer masses of the kept tokens in the
/// order of their ids: the first token whose inclusive prefix exceeds floor(u * mass of the cut).
/// In other rows every uniform gives the token of `draw`. No uniform runs past the end, and a token
/// of probability 0 is never drawn. No probabilities are needed; where they are to replace the
/// logits, draw before. Asynchronous on `space`; the same tokens everywhere.
/// @param uniforms [n, d] in [0, 1); values outside are clamped to [0, 1 - 2^-24]. A NaN sets
///   invalid_parameter, makes all d tokens of its row -1 and ends the use of that row's measures:
///   probabilities 0, log-probabilities -inf
/// @param tokens [n, d]: the tokens, -1 for an unusable row
/// @param cuts of these rows, or empty: no row is truncated
/// @param row_status [n] or empty; the bit invalid_parameter is ORed into it, and `empty` where the
///   logits are no longer those that were measured and no token is found
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void draw_tokens(const ExecutionSpace& space,
                 const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                 const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                 const Matrix<const float, MemoryOf<ExecutionSpace>>& uniforms,
                 const Matrix<TokenId, MemoryOf<ExecutionSpace>>& tokens,
                 const RowCuts<MemoryOf<ExecutionSpace>>& cuts = {},
                 const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {},
                 GreedyTies ties = GreedyTies::uniform);

}  // namespace tokkos
