// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include "kernels/chunk_source.hpp"
#include "kernels/launch.hpp"

#include <Kokkos_Core.hpp>

#include <cfloat>
#include <cstdint>
#include <type_traits>

// The arithmetic of one chunk, shared by every kernel that reads logits. A team works on a chunk;
// each member takes blocks of consecutive tokens or groups: long ones on a host, where a team is
// one thread and loops of fixed length vectorize, 4 on a device, where neighbours then read
// neighbouring memory.

namespace tokkos {

/// Bytes of team scratch that hold the logits of some chunks, and of one.
constexpr std::size_t scratch_of_chunks(std::int64_t chunks) {
  return static_cast<std::size_t>(chunks) * chunk_size * sizeof(float) + 64;
}
inline constexpr std::size_t chunk_scratch = scratch_of_chunks(1);

/// Threads per chunk on a device.
inline constexpr int chunk_team = 256;

inline constexpr float negative_infinity = -__builtin_huge_valf();

/// Tokens that a team member takes at a time, and how many of them stand under one word of mask.
template <class ExecutionSpace>
inline constexpr int load_width = runs_on_host<ExecutionSpace> ? chunk_size : 4;

template <class ExecutionSpace>
inline constexpr int mask_width = runs_on_host<ExecutionSpace> ? 32 : 4;

/// A logit that masks is -infinity from here on.
KOKKOS_FORCEINLINE_FUNCTION float unmasked(float logit) {
  return logit <= masked_logit ? negative_infinity : logit;
}

/// Copies `width` logits to x, with -infinity for those that are not allowed (NaN stays). Where
/// nothing is allowed nothing is read.
template <int width, LogitType Logit>
KOKKOS_FORCEINLINE_FUNCTION void fill_word(const Logit* KOKKOS_RESTRICT logits,
                                           std::uint32_t allowed, float* KOKKOS_RESTRICT x) {
  if (allowed == 0) {
    for (int j = 0; j < width; ++j) x[j] = negative_infinity;
  } else {
    // hot loop
    for (int j = 0; j < width; ++j) {
      const float value = unmasked(widen(logits[j]));
      x[j] = (allowed >> j) & 1u ? value : negative_infinity;
    }
  }
}

/// The same from token `first` on. Tokens at or past the active vocabulary are not allowed, and
/// need not be there.
template <int width, LogitType Logit>
KOKKOS_FORCEINLINE_FUNCTION void fill_tokens(const ChunkSource<Logit>& source, int first,
                                             float* KOKKOS_RESTRICT x) {
  const std::uint32_t allowed = source.template allowed<width>(first);
  const Logit* logits = source.logits + first;
  if (allowed == 0 || first + width <= source.size) {
    fill_word<width>(logits, allowed, x);
    return;
  }
  for (int j = 0; j < width; ++j) {
    x[j] = negative_infinity;
    if ((allowed >> j) & 1u) x[j] = unmasked(widen(logits[j]));
  }
}

/// The same for `count` logits.
template <int count, int width, LogitType Logit>
KOKKOS_FORCEINLINE_FUNCTION void fill_block(const ChunkSource<Logit>& source, int first,
                                            float* KOKKOS_RESTRICT x) {
  if (source.mask_words == nullptr && first + count <= source.size) {
    const Logit* KOKKOS_RESTRICT logits = source.logits + first;
    // hot loop
    for (int j = 0; j < count; ++j) x[j] = unmasked(widen(logits[j]));
  } else {
    for (int j = 0; j < count; j += width) fill_tokens<width>(source, first + j, x + j);
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

template <int count>
KOKKOS_FORCEINLINE_FUNCTION LogitRange range_of(const float* x) {
  constexpr int width = count < 64 ? count : 64;
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
      odd[j] |= (value > masked_logit) | (value == negative_infinity) ? 0u : 1u;
      maxima[j] = value > maxima[j] ? value : maxima[j];
    }
  }
  return merged_range<width>(maxima, odd);
}

/// fill_block and range_of of a whole chunk and its mask's words in one go.
template <LogitType Logit>
KOKKOS_FUNCTION LogitRange fill_masked_chunk(const Logit* KOKKOS_RESTRICT logits,
                                             const std::int32_t* KOKKOS_RESTRICT words,
                                             float* KOKKOS_RESTRICT x) {
  constexpr int width = 32;
  constexpr std::uint32_t infinity_bits = 0x7f800000u;
  float maxima[width];
  std::uint32_t magnitudes[width];
  for (int j = 0; j < width; ++j) {
    maxima[j] = negative_infinity;
    magnitudes[j] = 0;
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
      const float kept = (allowed >> j) & 1u ? unmasked(value) : negative_infinity;
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
  constexpr int width = load_width<ExecutionSpace>;
  float maximum = negative_infinity;
  std::int32_t bits = 0;
  for (int block = team.team_rank(); block < chunk_size / width; block += team.team_size()) {
    float* own = x + block * width;
    LogitRange range;
    bool filled = false;
    if constexpr (width == chunk_size) {
      filled = source.mask_words != nullptr && source.size == chunk_size;
      if (filled) range = fill_masked_chunk(source.logits, source.mask_words, own);
    }
    if (!filled) {
      fill_block<width, mask_width<ExecutionSpace>>(source, block * width, own);
      range = range_of<width>(own);
    }
    maximum = range.maximum > maximum ? range.maximum : maximum;
    if (range.has_odd) bits |= RowStatus::nan_logit;
  }
  team.team_reduce(Kokkos::Max<float>(maximum));
  team.team_reduce(Kokkos::BOr<std::int32_t>(bits));
  team.team_barrier();  // other members read what was loaded
  if (maximum > FLT_MAX) bits |= RowStatus::positive_infinity;
  status = bits;
  return maximum;
}

/// Groups that a team member weighs at a time.
template <class ExecutionSpace>
inline constexpr int weigh_width =
    runs_on_host<ExecutionSpace> ? 64 : groups_per_chunk / chunk_team;

/// Writes the weights of `width` groups from the logits in x (may be e itself) to e; returns the
/// sum.
template <int width, bool greedy>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t weigh_groups(const float* x, float* e, float maximum,
                                                      float inverse) {
  constexpr int stride = groups_per_chunk;
  const InverseTemperature scale{inverse, greedy};
  std::uint64_t sum = 0;
  // hot loop
#pragma omp simd reduction(+ : sum)
  for (int g = 0; g < width; ++g) {
    const float e0 = scale.weight(x[g], maximum);
    const float e1 = scale.weight(x[g + stride], maximum);
    const float e2 = scale.weight(x[g + 2 * stride], maximum);
    const float e3 = scale.weight(x[g + 3 * stride], maximum);
    e[g] = e0;
    e[g + stride] = e1;
    e[g + 2 * stride] = e2;
    e[g + 3 * stride] = e3;
    sum += grid_bits((e0 + e1) + (e2 + e3));
  }
  return static_cast<std::int64_t>(sum - width * grid_bias);
}

/// Writes exp((x - maximum) / T) of a loaded chunk to e (may be x) and returns the chunk's sum. On
/// a host the next chunk of `source` travels meanwhile.
template <class ExecutionSpace, LogitType Logit, class Team>
KOKKOS_FUNCTION std::int64_t weigh_chunk(const Team& team, const ChunkSource<Logit>& source,
                                         const float* x, float* e, float maximum,
                                         InverseTemperature inverse) {
  constexpr int width = weigh_width<ExecutionSpace>;
  std::int64_t sum = 0;
  for (int block = team.team_rank(); block < groups_per_chunk / width; block += team.team_size()) {
    const int g = block * width;
    source.template fetch_ahead<ExecutionSpace>(4 * g, 4 * width);
    sum += inverse.greedy ? weigh_groups<width, true>(x + g, e + g, maximum, inverse.value)
                          : weigh_groups<width, false>(x + g, e + g, maximum, inverse.value);
  }
  team.team_reduce(Kokkos::Sum<std::int64_t>(sum));
  team.team_barrier();  // other members read the weights
  return sum;
}

/// The team's scratch for some chunks, aligned for vector loads.
template <class Team>
KOKKOS_FUNCTION float* chunk_buffer(const Team& team, std::int64_t chunks = 1) {
  const std::size_t bytes = static_cast<std::size_t>(chunks) * chunk_size * sizeof(float);
  return static_cast<float*>(team.team_scratch(0).get_shmem_aligned(bytes, 64));
}

/// Writes the weights of a chunk to e, by way of x where its logits must be loaded (x may be e;
/// both have room for chunk_size); unspecified for a chunk with sum <= 0.
template <class ExecutionSpace, LogitType Logit, class Team>
KOKKOS_FUNCTION ChunkPair measure_chunk(const Team& team, const ChunkSource<Logit>& source,
                                        InverseTemperature inverse, float* x, float* e) {
  const float* ready = nullptr;  // logits that can be weighed
  float maximum = negative_infinity;
  if constexpr (runs_on_host<ExecutionSpace> && std::is_same_v<Logit, float>) {
    if (source.mask_words == nullptr && source.size == chunk_size) {
      const LogitRange range = range_of<chunk_size>(source.logits);
      maximum = range.maximum;
      if (!range.has_odd && maximum > masked_logit && maximum <= FLT_MAX) ready = source.logits;
    }
  }
  if (ready == nullptr) {
    std::int32_t status = 0;
    maximum = load_chunk<ExecutionSpace>(team, source, x, status);
    if (status != 0) return {negative_infinity, -static_cast<std::int64_t>(status)};
    if (maximum == negative_infinity) return {};
    ready = x;
  }
  return {maximum, weigh_chunk<ExecutionSpace>(team, source, ready, e, maximum, inverse)};
}

}  // namespace tokkos
