// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include <cstdint>

namespace tokkos {

/// What a masked logit is set to.
enum class MaskedValue {
  lowest,            ///< -FLT_MAX in float32, -infinity in 16 bits
  negative_infinity  ///< -infinity always
};

/// How apply_bitmask_inplace masks.
struct BitmaskOptions {
  /// Tokens at or past it are masked, whatever their bits; in [1, V]. 0: V.
  std::int64_t active_vocabulary = 0;
  /// What a masked logit becomes.
  MaskedValue masked_value = MaskedValue::lowest;
};

namespace detail {
template <class ExecutionSpace, LogitType Logit>
void apply_bitmask(const ExecutionSpace& space,
                   const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                   const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
                   const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& mask_rows,
                   const Matrix<const std::int32_t, MemoryOf<ExecutionSpace>>& bitmask,
                   const BitmaskOptions& options,
                   const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status);
template <class ExecutionSpace>
void check_mask_rows(const ExecutionSpace& space, std::int64_t rows, std::int64_t mask_row_count,
                     const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
                     const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& mask_rows);
}  // namespace detail

/// Masks the tokens that the bitmask forbids in each listed row, with the seed's arrays: row
/// r = seq_ids[i] of the logits is masked by row r of the bitmask, token v stays iff bit (v & 31)
/// of bitmask[r, v >> 5] is set.
///
/// Asynchronous on `space`. A row outside the logits is left out; one that has no row in the
/// bitmask is masked whole.
/// @param logits [n, V] float32, bfloat16 or float16, rows may be padded
/// @param seq_ids [s] rows to mask, each once (of two masks of one row, either may let pass what
///   the other forbids); other rows are not touched
/// @param bitmask [m, w] with w >= ceil(active vocabulary / 32), rows may be padded
/// @param row_status [n] or empty; invalid_edit is set on a row that has no row in the bitmask
/// @throws Error if the bitmask is too narrow: the rest of the vocabulary is never "allowed"
/// Source: the seed's kernel of the same name.
template <class ExecutionSpace, LogitType Logit, class... Properties>
void apply_bitmask_inplace(const ExecutionSpace& space,
                           const Kokkos::View<Logit**, Properties...>& logits,
                           const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
                           const Matrix<const std::int32_t, MemoryOf<ExecutionSpace>>& bitmask,
                           const BitmaskOptions& options = {},
                           const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  detail::apply_bitmask<ExecutionSpace, Logit>(space, rows_of<MemoryOf<ExecutionSpace>>(logits),
                                               seq_ids, seq_ids, bitmask, options, row_status);
}

/// The same for a bitmask that holds the masked rows only: row seq_ids[i] of the logits is masked
/// by row mask_rows[i] of the bitmask.
/// @param mask_rows [s] rows of the bitmask
template <class ExecutionSpace, LogitType Logit, class... Properties>
void apply_bitmask_inplace(const ExecutionSpace& space,
                           const Kokkos::View<Logit**, Properties...>& logits,
                           const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
                           const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& mask_rows,
                           const Matrix<const std::int32_t, MemoryOf<ExecutionSpace>>& bitmask,
                           const BitmaskOptions& options = {},
                           const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  detail::apply_bitmask<ExecutionSpace, Logit>(space, rows_of<MemoryOf<ExecutionSpace>>(logits),
                                               seq_ids, mask_rows, bitmask, options, row_status);
}

/// Both after copying the rows to the host and checking them: seq_ids in range and each once, rows
/// of the bitmask in range. They wait for `space`.
/// @throws Error that names the first bad entry; no logit is changed then
template <class ExecutionSpace, LogitType Logit, class... Properties>
void apply_bitmask_inplace_checked(
    const ExecutionSpace& space, const Kokkos::View<Logit**, Properties...>& logits,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& mask_rows,
    const Matrix<const std::int32_t, MemoryOf<ExecutionSpace>>& bitmask,
    const BitmaskOptions& options = {},
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  detail::check_mask_rows(space, static_cast<std::int64_t>(logits.extent(0)),
                          static_cast<std::int64_t>(bitmask.extent(0)), seq_ids, mask_rows);
  apply_bitmask_inplace(space, logits, seq_ids, mask_rows, bitmask, options, row_status);
}

/// The same where a row of logits and its mask have the same number.
template <class ExecutionSpace, LogitType Logit, class... Properties>
void apply_bitmask_inplace_checked(
    const ExecutionSpace& space, const Kokkos::View<Logit**, Properties...>& logits,
    const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& seq_ids,
    const Matrix<const std::int32_t, MemoryOf<ExecutionSpace>>& bitmask,
    const BitmaskOptions& options = {},
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  apply_bitmask_inplace_checked(space, logits, seq_ids, seq_ids, bitmask, options, row_status);
}

}  // namespace tokkos
