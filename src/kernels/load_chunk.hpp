// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/row_status.hpp>
#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include "kernels/chunk_source.hpp"
#include "kernels/launch.hpp"
#include "numerics/four.hpp"

#include <Kokkos_Core.hpp>

#include <cfloat>
#include <cstdint>

// How the logits of a chunk are loaded: masked, and with their maximum. On a host one thread loads
// a chunk in loops of fixed length that vectorize, on a device each thread of a team loads 16 bytes
// at a time, next to those of its neighbours.

namespace tokkos {

inline constexpr float negative_infinity = -__builtin_huge_valf();

/// A logit that masks is -infinity from here on.
KOKKOS_FORCEINLINE_FUNCTION float unmasked(float logit) {
  return logit <= masked_logit ? negative_infinity : logit;
}

/// Copies 32 logits to x, with -infinity for those that are not allowed (NaN stays). Where nothing
/// is allowed nothing is read.
template <LogitType Logit>
KOKKOS_FORCEINLINE_FUNCTION void fill_word(const Logit* KOKKOS_RESTRICT logits,
                                           std::uint32_t allowed, float* KOKKOS_RESTRICT x) {
  if (allowed == 0) {
    for (int j = 0; j < 32; ++j) x[j] = negative_infinity;
  } else {
    // hot loop
    for (int j = 0; j < 32; ++j) {
      const float value = unmasked(widen(logits[j]));
      x[j] = (allowed >> j) & 1u ? value : negative_infinity;
    }
  }
}

/// The same for a chunk. Tokens at or past the active vocabulary are not allowed, and need not be
/// there.
template <LogitType Logit>
KOKKOS_FORCEINLINE_FUNCTION void fill_chunk(const ChunkSource<Logit>& source,
                                            float* KOKKOS_RESTRICT x) {
  const Logit* KOKKOS_RESTRICT logits = source.logits;
  if (source.mask_words == nullptr && source.size == chunk_size) {
    // hot loop
    for (int j = 0; j < chunk_size; ++j) x[j] = unmasked(widen(logits[j]));
    return;
  }
  for (int first = 0; first < chunk_size; first += 32) {
    const std::uint32_t allowed = source.template allowed<32>(first);
    if (allowed == 0 || first + 32 <= source.size) {
      fill_word(logits + first, allowed, x + first);
      continue;
    }
    for (int j = 0; j < 32; ++j) {
      x[first + j] = negative_infinity;
      if ((allowed >> j) & 1u) x[first + j] = unmasked(widen(logits[first + j]));
    }
  }
}

/// The same for the tokens from `first` on that a thread of a device loads in one access: as many
/// as 16 bytes hold. Their logits end in x.
template <LogitType Logit>
inline constexpr int load_width = 16 / sizeof(Logit);

template <LogitType Logit>
KOKKOS_FORCEINLINE_FUNCTION void fill_load(const ChunkSource<Logit>& source, int first,
                                           float (&x)[load_width<Logit>]) {
  constexpr int width = load_width<Logit>;
  struct alignas(16) Load {
    Logit values[width];
  };
  const std::uint32_t allowed = source.template allowed<width>(first);
  const Logit* logits = source.logits + first;
  for (float& value : x) value = negative_infinity;
  if (allowed == 0) return;
  if (first + width <= source.size &&
      reinterpret_cast<std::uintptr_t>(logits) % alignof(Load) == 0) {
    const Load load = *reinterpret_cast<const Load*>(logits);
    for (int j = 0; j < width; ++j) {
      if ((allowed >> j) & 1u) x[j] = unmasked(widen(load.values[j]));
    }
  } else {
    for (int j = 0; j < width; ++j) {
      if ((allowed >> j) & 1u) x[j] = unmasked(widen(logits[j]));
    }
  }
}

/// The largest of some logits, and whether one of them is NaN or -FLT_MAX.
struct LogitRange {
  float maximum = negative_infinity;
  bool has_odd = false;
};

/// The range of which every `width`-th logit is known: one running maximum would wait for itself.
template <int width>
KOKKOS_FORCEINLINE_FUNCTION LogitRange merged_range(const float* maxima, const std::uint32_t* odd) {
  LogitRange range;
  std::uint32_t any = 0;
  for (int j = 0; j < width; ++j) {
    any |= odd[j];
    range.maximum = maxima[j] > range.maximum ? maxima[j] : range.maximum;
  }
  range.maximum += 0.0f;  // -0 becomes +0
  range.has_odd = any != 0;
  return range;
}

/// Logits that range_of looks at side by side: their maxima and flags have to stay in registers,
/// of which there are 32 of 512 bits or 16 of 256. Sets no result.
#if defined(__AVX512F__)
inline constexpr int range_width = 64;
#else
inline constexpr int range_width = 32;
#endif

template <int count>
KOKKOS_FORCEINLINE_FUNCTION LogitRange range_of(const float* x) {
  constexpr int width = count < range_width ? count : range_width;
  float maxima[width];
  std::uint32_t odd[width];
  for (int j = 0; j < width; ++j) {
    maxima[j] = negative_infinity;
    odd[j] = 0;
  }
  for (int first = 0; first < count; first += width) {
    // hot loop
    for (int j = 0; j < width; ++j) {
      const float value = x[first + j];
      odd[j] |= ((value > masked_logit) | (value == negative_infinity)) ? 0u : 1u;
      maxima[j] = value > maxima[j] ? value : maxima[j];
    }
  }
  return merged_range<width>(maxima, odd);
}

/// fill_chunk and range_of of a full chunk and its mask's words in one go.
template <LogitType Logit>
KOKKOS_FUNCTION LogitRange fill_masked_chunk(const Logit* KOKKOS_RESTRICT logits,
                                             const std::int32_t* KOKKOS_RESTRICT words,
                                             float* KOKKOS_RESTRICT x) {
  constexpr int width = 32;
  constexpr std::uint32_t infinity_bits = 0x7f800000u;
  float maxima[width];
  std::uint32_t magnitudes[width];
  std::uint32_t bit[width];
  for (int j = 0; j < width; ++j) {
    maxima[j] = negative_infinity;
    magnitudes[j] = 0;
    bit[j] = 1u << j;
  }
  for (int first = 0; first < chunk_size; first += width) {
    const auto allowed = static_cast<std::uint32_t>(words[first / width]);
    float* KOKKOS_RESTRICT copy = x + first;
    if (allowed == 0) {
      for (int j = 0; j < width; ++j) copy[j] = negative_infinity;
      continue;
    }
    // hot loop
    for (int j = 0; j < width; ++j) {
      const float value = widen(logits[first + j]);
      const float kept = (allowed & bit[j]) != 0 ? unmasked(value) : negative_infinity;
      copy[j] = kept;
      maxima[j] = kept > maxima[j] ? kept : maxima[j];
      const std::uint32_t magnitude = __builtin_bit_cast(std::uint32_t, kept) & 0x7fffffffu;
      magnitudes[j] = magnitude > magnitudes[j] ? magnitude : magnitudes[j];
    }
  }
  for (int j = 0; j < width; ++j) magnitudes[j] = magnitudes[j] > infinity_bits ? 1u : 0u;
  return merged_range<width>(maxima, magnitudes);  // only NaN is odd here
}

/// Loads a chunk into `x` with -infinity for every forbidden token and returns its maximum, plus
/// the status bits of the logits (the same for every member).
template <class ExecutionSpace, LogitType Logit, class Team>
KOKKOS_FUNCTION float load_chunk(const Team& team, const ChunkSource<Logit>& source, float* x,
                                 std::int32_t& status) {
  float maximum = negative_infinity;
  std::int32_t bits = 0;
  const auto add = [&](const LogitRange& range) {
    maximum = range.maximum > maximum ? range.maximum : maximum;
    if (range.has_odd) bits |= RowStatus::nan_logit;
  };
  if constexpr (runs_on_host<ExecutionSpace>) {
    // A chunk has one team member: where there are more, the first one loads it.
    if (team.team_rank() == 0) {
      if (source.mask_words != nullptr && source.size == chunk_size) {
        add(fill_masked_chunk(source.logits, source.mask_words, x));
      } else {
        fill_chunk(source, x);
        add(range_of<chunk_size>(x));
      }
    }
  } else {
    constexpr int width = load_width<Logit>;
    for (int j = width * team.team_rank(); j < chunk_size; j += width * team.team_size()) {
      alignas(16) float values[width];
      fill_load(source, j, values);
      for (int k = 0; k < width; k += 4) store_four(x + j + k, load_four(values + k));
      add(range_of<width>(values));
    }
  }
  team.team_reduce(Kokkos::Max<float>(maximum));
  team.team_reduce(Kokkos::BOr<std::int32_t>(bits));
  team.team_barrier();  // other members read what was loaded
  if (maximum > FLT_MAX) bits |= RowStatus::positive_infinity;
  status = bits;
  return maximum;
}

}  // namespace tokkos
