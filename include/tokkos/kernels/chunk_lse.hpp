// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>

#include <cstdint>

namespace tokkos {

/// First stage of the seed's softmax_with_temperature, with its buffers: per chunk of 4096 logits
/// the maximum divided by the temperature, and the logarithm of the sum of exp(x / T - that
/// maximum); in a greedy row the maximum itself and the number of maxima.
///
/// The seed's padding rule: positions past the vocabulary count as -FLT_MAX in the maximum and as 0
/// in the sum, so a chunk in which nothing is allowed has maximum -FLT_MAX and sum -infinity
/// (greedy: 0). The buffers are float32 in temperature-scaled units and round as the seed's do: for
/// probabilities use `softmax`, which does not. Asynchronous on `space`; the same bits everywhere.
/// @param rows n rows of V logits
/// @param chunked_sum, chunked_max [n, chunk_count(V)] float32, written
/// @param row_status [n] or empty: nan_logit, positive_infinity, invalid_parameter; such a chunk
/// gets
///   maximum -FLT_MAX and sum NaN
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void chunk_lse(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
               const Matrix<float, MemoryOf<ExecutionSpace>>& chunked_sum,
               const Matrix<float, MemoryOf<ExecutionSpace>>& chunked_max,
               const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {});

}  // namespace tokkos
