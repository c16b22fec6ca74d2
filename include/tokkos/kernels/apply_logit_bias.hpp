// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include <cstdint>

namespace tokkos {

/// The edits of `apply_logit_bias_inplace`: entry i adds logit_bias[i] to
/// logits[pos2seq_id[i], token_ids[i]]. Each (row, token) may stand there once.
template <class MemorySpace>
struct LogitBiasEdits {
  Vector<const std::int32_t, MemorySpace> pos2seq_id;  ///< [k] rows of the logits
  Vector<const TokenId, MemorySpace> token_ids;        ///< [k]
  Vector<const float, MemorySpace> logit_bias;         ///< [k] finite, or -infinity (a mask)
};

namespace detail {
template <class ExecutionSpace, LogitType Logit>
void apply_logit_bias(const ExecutionSpace& space,
                      const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                      const LogitBiasEdits<MemoryOf<ExecutionSpace>>& edits,
                      const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status);
template <class ExecutionSpace>
void check_logit_bias(const ExecutionSpace& space, std::int64_t rows, std::int64_t vocabulary,
                      const LogitBiasEdits<MemoryOf<ExecutionSpace>>& edits);
}  // namespace detail

/// logits[pos2seq_id[i], token_ids[i]] += logit_bias[i] for every i, with the seed's arrays.
///
/// Computed in float32 and stored once. A finite result that overflows becomes +-0x1.fffffcp127 (16
/// bits: the largest finite); logits that are NaN, infinite or at most -FLT_MAX keep their value.
/// Asynchronous on `space`; every (row, token) must be unique (the checked variant verifies it).
/// @param logits [n, V] float32, bfloat16 or float16, rows may be padded
/// @param row_status [n] or empty; an entry with a token outside [0, V) is left out and sets
///   invalid_edit on its row; one with a row outside [0, n) is left out
/// @throws Error if the lengths differ or row_status overlaps another View (nothing is launched)
/// Source: the seed's kernel of the same name.
template <class ExecutionSpace, LogitType Logit, class... Properties>
void apply_logit_bias_inplace(
    const ExecutionSpace& space, const Kokkos::View<Logit**, Properties...>& logits,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& pos2seq_id,
    const Vector<const TokenId, MemoryOf<ExecutionSpace>>& token_ids,
    const Vector<const float, MemoryOf<ExecutionSpace>>& logit_bias,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  detail::apply_logit_bias<ExecutionSpace, Logit>(space, rows_of<MemoryOf<ExecutionSpace>>(logits),
                                                  {pos2seq_id, token_ids, logit_bias}, row_status);
}

/// The same after copying the edits to the host and checking them: rows and tokens in range, biases
/// neither NaN nor +infinity, each (row, token) once. It waits for `space`.
/// @throws Error that names the first bad entry; no logit is changed then
template <class ExecutionSpace, LogitType Logit, class... Properties>
void apply_logit_bias_inplace_checked(
    const ExecutionSpace& space, const Kokkos::View<Logit**, Properties...>& logits,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& pos2seq_id,
    const Vector<const TokenId, MemoryOf<ExecutionSpace>>& token_ids,
    const Vector<const float, MemoryOf<ExecutionSpace>>& logit_bias,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  detail::check_logit_bias(space, static_cast<std::int64_t>(logits.extent(0)),
                           static_cast<std::int64_t>(logits.extent(1)),
                           {pos2seq_id, token_ids, logit_bias});
  apply_logit_bias_inplace(space, logits, pos2seq_id, token_ids, logit_bias, row_status);
}

}  // namespace tokkos
