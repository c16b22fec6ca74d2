// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>

#include <cstdint>

namespace tokkos {

/// Draws one token per row of given probabilities: token v has the mass RNE(p[v] * 2^44), the token
/// drawn is the first whose inclusive prefix exceeds floor(u * sum), exactly.
///
/// Asynchronous on `space`; the same token everywhere.
/// @param probabilities [n, V] float32, rows may be padded, V < 2^19
/// @param uniforms [n] in [0, 1); values outside are clamped to [0, 1 - 2^-24]
/// @param tokens [n]: the tokens, -1 for an unusable row
/// @param row_status [n] or empty: empty (all 0), invalid_probability (NaN, negative, above 1.001,
/// or
///   the sum is not within 1% of 1), invalid_parameter (NaN uniform)
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace>
void sample_from_probabilities(
    const ExecutionSpace& space, const Matrix<const float, MemoryOf<ExecutionSpace>>& probabilities,
    const Vector<const float, MemoryOf<ExecutionSpace>>& uniforms,
    const Vector<TokenId, MemoryOf<ExecutionSpace>>& tokens,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {});

}  // namespace tokkos
