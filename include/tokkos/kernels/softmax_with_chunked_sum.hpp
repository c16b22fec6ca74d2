// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>

#include <cstdint>

namespace tokkos {

/// Second stage of the seed's softmax_with_temperature: probabilities from the logits and the
/// buffers that `chunk_lse` wrote (see there for their meaning and rounding).
///
/// With D = max chunked_sum and X = max chunked_max: p = exp((x - m) / T) * exp(chunked_max - X) *
/// exp(-D) / sum over the chunks of exp(chunked_max - X) * exp(chunked_sum - D), m the chunk's own
/// maximum and the sum exact. Asynchronous on `space`; the same bits everywhere.
/// @param rows the rows that chunk_lse was given
/// @param chunked_sum, chunked_max [n, chunk_count(V)] float32
/// @param probabilities [n, V] float32; for float32 logits it may be `rows.logits` itself
/// @param row_status [n] or empty: empty, invalid_parameter, nan_logit, positive_infinity
/// @throws Error if a shape does not fit or the Views overlap otherwise (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void softmax_with_chunked_sum(
    const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
    const Matrix<const float, MemoryOf<ExecutionSpace>>& chunked_sum,
    const Matrix<const float, MemoryOf<ExecutionSpace>>& chunked_max,
    const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {});

}  // namespace tokkos
