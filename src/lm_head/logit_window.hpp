// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace tokkos {

/// Tokens from one on, or (of the last block) those that are not among them.
struct TokenRange {
  std::uint32_t begin;
  std::uint32_t length;
  bool is_outside;

  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int32_t token) const {
    return (static_cast<std::uint32_t>(token) - begin < length) != is_outside;
  }
};

/// The part of n rows of logits that is in memory: the same tokens of every row, or of each row one
/// piece of its own (or none). Edits take it for the whole rows, of which it holds a part.
template <class MemorySpace>
struct LogitWindow {
  Matrix<float, MemorySpace> logits;  ///< [n, width]
  std::int64_t vocabulary;
  std::int64_t first = 0;  ///< token of the first column
  /// [n] or empty: first token of each row's piece instead. Those below `first_start` are not here:
  /// they are in memory elsewhere, or do not exist (-1).
  Vector<const std::int64_t, MemorySpace> starts = {};
  std::int64_t first_start = 0;
  bool is_last = false;  ///< of the blocks: edits of tokens that no block has are looked at here

  KOKKOS_FUNCTION std::size_t extent(int dimension) const {
    return dimension == 0 ? logits.extent(0) : static_cast<std::size_t>(vocabulary);
  }

  /// Whether single pieces are held, and one of this row.
  KOKKOS_FORCEINLINE_FUNCTION bool has_piece(std::int64_t row) const {
    return starts.data() != nullptr && starts(row) >= first_start;
  }

  /// Column of a token, which may lie outside.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(std::int64_t row, std::int64_t token) const {
    return token - (starts.data() == nullptr ? first : starts(row));
  }
  KOKKOS_FORCEINLINE_FUNCTION bool holds(std::int64_t row, std::int64_t token) const {
    if (starts.data() != nullptr && !has_piece(row)) return false;
    const std::int64_t place = column(row, token);
    return place >= 0 && place < static_cast<std::int64_t>(logits.extent(1));
  }
  /// Of the blocks each edit is looked at in one, which its token tells.
  KOKKOS_FUNCTION TokenRange looked_at() const {
    const auto from = static_cast<std::uint32_t>(first);
    if (is_last) return {0, from, true};
    return {from, static_cast<std::uint32_t>(logits.extent(1)), false};
  }
  /// Of single pieces it is looked at where they hold it.
  KOKKOS_FORCEINLINE_FUNCTION bool has_pieces() const { return starts.data() != nullptr; }
  KOKKOS_FORCEINLINE_FUNCTION bool piece_holds(std::int64_t row, std::int64_t token) const {
    return row >= 0 && row < static_cast<std::int64_t>(logits.extent(0)) && holds(row, token);
  }
  KOKKOS_FORCEINLINE_FUNCTION float& operator()(std::int64_t row, std::int64_t token) const {
    return logits(row, column(row, token));
  }
};

}  // namespace tokkos
