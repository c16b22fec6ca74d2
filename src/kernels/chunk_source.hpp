// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include "kernels/launch.hpp"
#include "numerics/prefetch.hpp"

#include <Kokkos_Core.hpp>

#include <cfloat>
#include <cstdint>

// Where the tokens of a chunk, their mask bits and their row's temperature are found.

namespace tokkos {

/// The tokens of one chunk of one row.
template <LogitType Logit>
struct ChunkSource {
  const Logit* logits;             ///< of the chunk's first token
  const std::int32_t* mask_words;  ///< bits of the chunk's tokens; null: all allowed
  int size;                        ///< tokens of the chunk below the active vocabulary
  int next;                        ///< the same of the chunk behind it

  /// Bits of `width` tokens from `first` on; tokens at or past `size` are forbidden.
  template <int width>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t allowed(int first) const {
    constexpr std::uint32_t all = width == 32 ? ~0u : (1u << (width % 32)) - 1u;
    const int left = size - first;
    if (left <= 0) return 0;  // there need not be a word
    std::uint32_t bits = left < width ? (1u << left) - 1u : all;
    if (mask_words != nullptr) {
      const auto word = static_cast<std::uint32_t>(mask_words[first >> 5]);
      bits &= width == 32 ? word : word >> (first & 31);
    }
    return bits;
  }

  /// On a host: asks the memory for the tokens that stand one chunk behind [first, first + count).
  template <class ExecutionSpace>
  KOKKOS_FORCEINLINE_FUNCTION void fetch_ahead(int first, int count) const {
    if constexpr (runs_on_host<ExecutionSpace>) {
      constexpr int line = 64 / sizeof(Logit);
      const Logit* ahead = logits + chunk_size;
      const int end = first + count < next ? first + count : next;
      for (int j = first; j < end; j += 32) {  // first is a multiple of 32
        if (mask_words != nullptr && mask_words[(chunk_size + j) >> 5] == 0) continue;
        for (int k = j; k < j + 32; k += line) prefetch(ahead + k);
      }
    }
  }
};

/// Row `row`'s temperature, inverted; `legal` tells whether it is a number in [0, FLT_MAX].
struct RowTemperature {
  InverseTemperature inverse;
  bool legal;

  template <class Rows>
  KOKKOS_FUNCTION static RowTemperature of(const Rows& rows, std::int64_t row) {
    const float t = rows.temperature(rows.temperature.extent(0) == 1 ? 0 : row);
    return {{1.0f / t, t <= greedy_temperature}, t >= 0.0f && t <= FLT_MAX};
  }
};

/// Tokens of the chunk that starts at token `first`.
template <class Rows>
KOKKOS_FORCEINLINE_FUNCTION int tokens_from(const Rows& rows, std::int64_t first) {
  const std::int64_t left = rows.active() - first;
  return static_cast<int>(left < 0 ? 0 : (left < chunk_size ? left : chunk_size));
}

/// Finds what is said of chunk `chunk` of row `row` beside its logits: its length and its mask.
/// False if the row's mask lies outside the View.
template <LogitType Logit, class Space>
KOKKOS_FUNCTION bool find_chunk_mask(const LogitRows<Logit, Space>& rows, std::int64_t row,
                                     std::int64_t chunk, ChunkSource<Logit>& source) {
  const std::int64_t first = chunk * chunk_size;
  source.size = tokens_from(rows, first);
  source.next = tokens_from(rows, first + chunk_size);
  source.mask_words = nullptr;
  const auto& mask = rows.bitmask;
  if (mask.words.data() == nullptr) return true;
  const std::int64_t mask_row = mask.row_index.data() ? mask.row_index(row) : row;
  if (mask_row == -1) return true;
  if (mask_row < 0 || mask_row >= static_cast<std::int64_t>(mask.words.extent(0))) return false;
  source.mask_words = mask.words.data() + mask_row * mask.words.stride(0) + first / 32;
  return true;
}

/// Finds chunk `chunk` of row `row`. False if the row's indices point outside the Views.
template <LogitType Logit, class Space>
KOKKOS_FUNCTION bool find_chunk(const LogitRows<Logit, Space>& rows, std::int64_t row,
                                std::int64_t chunk, ChunkSource<Logit>& source) {
  const std::int64_t logit_row = rows.row_index.data() ? rows.row_index(row) : row;
  if (logit_row < 0 || logit_row >= static_cast<std::int64_t>(rows.logits.extent(0))) return false;
  source.logits = rows.logits.data() + logit_row * rows.logits.stride(0) + chunk * chunk_size;
  return find_chunk_mask(rows, row, chunk, source);
}

}  // namespace tokkos
