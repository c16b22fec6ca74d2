// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <cstdint>

namespace tokkos {

/// How a greedy row with several equal maxima is drawn.
enum class GreedyTies {
  uniform,   ///< the uniform picks among them
  lowest_id  ///< always the lowest token id
};

/// Draws one token per row, after `measure` of the same rows, re-reading one chunk of each.
///
/// The uniform selects in exact integer masses in the order of token ids: no uniform runs past the
/// end, and a token of probability 0 is never drawn. Asynchronous on `space`; the same token
/// everywhere.
/// @param uniforms [n] in [0, 1); values outside are clamped to [0, 1 - 2^-24], NaN sets
///   invalid_parameter and ends the use of that row's measures: probabilities 0, log-sum-exp -inf
/// @param tokens [n]: the tokens, -1 for an unusable row
/// @param row_status [n] or empty; the bit invalid_parameter is ORed into it, and `empty` where the
///   logits are no longer those that were measured and no token is found
/// @throws Error if a shape does not fit, an output overlaps another View or `ties` is none of
///   GreedyTies (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void draw(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
          const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
          const Vector<const float, MemoryOf<ExecutionSpace>>& uniforms,
          const Vector<TokenId, MemoryOf<ExecutionSpace>>& tokens,
          const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {},
          GreedyTies ties = GreedyTies::uniform);

}  // namespace tokkos
