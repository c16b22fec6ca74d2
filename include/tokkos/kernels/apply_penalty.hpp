// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include <cstdint>

namespace tokkos {

/// The edits of `apply_penalty_inplace`: entry i penalizes token token_ids[i], seen token_cnt[i]
/// times, in row seq_ids[pos2seq_id[i]]. Each (row, token) may stand there once.
template <class MemorySpace>
struct PenaltyEdits {
  Vector<const std::int32_t, MemorySpace> seq_ids;     ///< [s] rows of the logits, each once
  Vector<const std::int32_t, MemorySpace> pos2seq_id;  ///< [k] positions in seq_ids
  Vector<const TokenId, MemorySpace> token_ids;        ///< [k]
  /// [k] >= 1; with the policies openai and hugging_face 0 for a token of the prompt alone
  Vector<const std::int32_t, MemorySpace> token_cnt;
  /// [s, 3]: presence, frequency (finite) and repetition penalty (finite, > 0)
  Matrix<const float, MemorySpace> penalties;
  /// [b], b <= k: of each of the first b entries the bias that is added to the logit before, NaN
  /// for none; +infinity leaves the entry out (invalid_edit)
  Vector<const float, MemorySpace> biases = {};
  /// [s] or empty: PenaltyPolicy of each row as a number; empty: seed
  Vector<const std::int32_t, MemorySpace> policies = {};
};

namespace detail {
template <class ExecutionSpace, LogitType Logit>
void apply_penalty(const ExecutionSpace& space,
                   const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                   const PenaltyEdits<MemoryOf<ExecutionSpace>>& edits,
                   const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status);
template <class ExecutionSpace>
void check_penalty(const ExecutionSpace& space, std::int64_t rows, std::int64_t vocabulary,
                   const PenaltyEdits<MemoryOf<ExecutionSpace>>& edits);
}  // namespace detail

/// Presence, frequency and repetition penalties, with the seed's arrays and order: with (presence,
/// frequency, repetition) = penalties[c], c = pos2seq_id[i], the logit x of token_ids[i] in row
/// seq_ids[c] becomes x - (presence + token_cnt[i] * frequency), then that times repetition if it
/// is negative, else divided by it.
///
/// Computed in float32 and stored once. A finite result that overflows becomes +-0x1.fffffcp127 (16
/// bits: the largest finite); logits that are NaN, infinite or at most -FLT_MAX keep their value.
/// Penalties (0, 0, 1) change nothing. A count is converted to float32, so counts above 2^24 are
/// rounded. Asynchronous on `space`; every (row, token) must be unique.
/// @param logits [n, V] float32, bfloat16 or float16, rows may be padded
/// @param row_status [n] or empty; an entry with a token outside [0, V), a count < 1 or penalties
///   out of range is left out and sets invalid_edit on its row; one with a position or row out of
///   range is left out
/// @throws Error if the lengths differ or row_status overlaps another View (nothing is launched)
/// Source: the seed's kernel of the same name.
template <class ExecutionSpace, LogitType Logit, class... Properties>
void apply_penalty_inplace(const ExecutionSpace& space,
                           const Kokkos::View<Logit**, Properties...>& logits,
                           const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
                           const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& pos2seq_id,
                           const Vector<const TokenId, MemoryOf<ExecutionSpace>>& token_ids,
                           const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& token_cnt,
                           const Matrix<const float, MemoryOf<ExecutionSpace>>& penalties,
                           const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  detail::apply_penalty<ExecutionSpace, Logit>(
      space, rows_of<MemoryOf<ExecutionSpace>>(logits),
      {seq_ids, pos2seq_id, token_ids, token_cnt, penalties}, row_status);
}

/// The same after copying the edits to the host and checking them: rows, positions and tokens in
/// range, each row and each (row, token) once, counts >= 1, penalties in their ranges. It waits for
/// `space`.
/// @throws Error that names the first bad entry; no logit is changed then
template <class ExecutionSpace, LogitType Logit, class... Properties>
void apply_penalty_inplace_checked(
    const ExecutionSpace& space, const Kokkos::View<Logit**, Properties...>& logits,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& pos2seq_id,
    const Vector<const TokenId, MemoryOf<ExecutionSpace>>& token_ids,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& token_cnt,
    const Matrix<const float, MemoryOf<ExecutionSpace>>& penalties,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  detail::check_penalty(space, static_cast<std::int64_t>(logits.extent(0)),
                        static_cast<std::int64_t>(logits.extent(1)),
                        {seq_ids, pos2seq_id, token_ids, token_cnt, penalties});
  apply_penalty_inplace(space, logits, seq_ids, pos2seq_id, token_ids, token_cnt, penalties,
                        row_status);
}

}  // namespace tokkos
