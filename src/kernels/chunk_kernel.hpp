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

/// Bytes of team scratch that hold the logits of a chunk.
inline constexpr std::size_t chunk_scratch = chunk_size * sizeof(float) + 64;

/// Threads per chunk on a device.
inline constexpr int chunk_team = 256;

inline constexpr float negative_infinity = -__builtin_huge_valf();

/// What a team member sees of the logits that it loads, lane by lane so that the loop vectorizes.
template <int width>
struct LoadedLanes {
  float maximum[width];
  std::uint32_t is_nan[width];

  KOKKOS_FORCEINLINE_FUNCTION LoadedLanes() {
    for (int j = 0; j < width; ++j) {
      maximum[j] = negative_infinity;
      is_nan[j] = 0;
    }
  }

  template <LogitType Logit>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Logit* KOKKOS_RESTRICT logits, std::uint32_t allowed,
                                        float* KOKKOS_RESTRICT x) {
    // hot loop
    for (int j = 0; j < width; ++j) {
      float value = widen(logits[j]);
      value = (allowed >> j) & 1u ? value : negative_infinity;
      is_nan[j] |= value != value ? 1u : 0u;
      value = value > masked_logit ? value : negative_infinity;
      maximum[j] = value > maximum[j] ? value : maximum[j];
      x[j] = value;
    }
  }
};

/// Tokens that a team member loads at a time.
template <class ExecutionSpace>
inline constexpr int load_width = runs_on_host<ExecutionSpace> ? 32 : 4;

/// Loads a chunk into `x` with -infinity for every forbidden token and returns its maximum, plus
/// the status bits of the logits (the same for every member).
template <class ExecutionSpace, LogitType Logit, class Team>
KOKKOS_FUNCTION float load_chunk(const Team& team, const ChunkSource<Logit>& source, float* x,
                                 std::int32_t& status) {
  constexpr int width = load_width<ExecutionSpace>;
  constexpr std::uint32_t all = width == 32 ? ~0u : (1u << (width % 32)) - 1u;
  LoadedLanes<width> lanes;
  for (int block = team.team_rank(); block < chunk_size / width; block += team.team_size()) {
    const int first = block * width;
    const std::uint32_t allowed = source.template allowed<width>(first);
    if (allowed == all) {
      lanes.load(source.logits + first, all, x + first);
    } else if (allowed != 0 && first + width <= source.size) {
      lanes.load(source.logits + first, allowed, x + first);
    } else if (allowed == 0) {
      for (int j = 0; j < width; ++j) x[first + j] = negative_infinity;
    } else {
      // The row's last block: read no more than what is there.
      Logit part[width] = {};
      for (int j = 0; j < width; ++j) {
        if ((allowed >> j) & 1u) part[j] = source.logits[first + j];
      }
      lanes.load(part, allowed, x + first);
    }
  }
  float maximum = negative_infinity;
  std::int32_t bits = 0;
  for (int j = 0; j < width; ++j) {
    maximum = lanes.maximum[j] > maximum ? lanes.maximum[j] : maximum;
    bits |= lanes.is_nan[j] ? RowStatus::nan_logit : 0;
  }
  team.team_reduce(Kokkos::Max<float>(maximum));
  team.team_reduce(Kokkos::BOr<std::int32_t>(bits));
  team.team_barrier();  // other members read what was loaded
  if (maximum > FLT_MAX) bits |= RowStatus::positive_infinity;
  status = bits;
  return maximum + 0.0f;  // -0 becomes +0
}

/// Whether a chunk of float32 logits can be weighed where it stands: all of its tokens are allowed,
/// none is NaN or masked. Its maximum is left in `maximum`.
KOKKOS_INLINE_FUNCTION bool stands_ready(const ChunkSource<float>& source, float& maximum) {
  if (source.mask_words != nullptr || source.size < chunk_size) return false;
  constexpr int width = 64;  // several maxima at a time: one would wait for itself
  float maxima[width];
  std::uint32_t unready[width];
  for (int j = 0; j < width; ++j) {
    maxima[j] = negative_infinity;
    unready[j] = 0;
  }
  for (int first = 0; first < chunk_size; first += width) {
    const float* x = source.logits + first;
    // hot loop
    for (int j = 0; j < width; ++j) {
      unready[j] |= x[j] > masked_logit ? 0u : 1u;
      maxima[j] = x[j] > maxima[j] ? x[j] : maxima[j];
    }
  }
  std::uint32_t any = 0;
  maximum = negative_infinity;
  for (int j = 0; j < width; ++j) {
    any |= unready[j];
    maximum = maxima[j] > maximum ? maxima[j] : maximum;
  }
  maximum += 0.0f;  // -0 becomes +0
  return any == 0 && maximum <= FLT_MAX;
}

/// Groups that a team member weighs at a time.
template <class ExecutionSpace>
inline constexpr int weigh_width =
    runs_on_host<ExecutionSpace> ? groups_per_chunk : groups_per_chunk / chunk_team;

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

/// Writes exp((x - maximum) / T) of a loaded chunk to e (may be x) and returns the chunk's sum.
template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION std::int64_t weigh_chunk(const Team& team, const float* x, float* e, float maximum,
                                         InverseTemperature inverse) {
  constexpr int width = weigh_width<ExecutionSpace>;
  std::int64_t sum = 0;
  for (int block = team.team_rank(); block < groups_per_chunk / width; block += team.team_size()) {
    const int g = block * width;
    sum += inverse.greedy ? weigh_groups<width, true>(x + g, e + g, maximum, inverse.value)
                          : weigh_groups<width, false>(x + g, e + g, maximum, inverse.value);
  }
  team.team_reduce(Kokkos::Sum<std::int64_t>(sum));
  team.team_barrier();  // other members read the weights
  return sum;
}

/// The team's scratch for one chunk, aligned for vector loads.
template <class Team>
KOKKOS_FUNCTION float* chunk_buffer(const Team& team) {
  return static_cast<float*>(
      team.team_scratch(0).get_shmem_aligned(chunk_size * sizeof(float), 64));
}

/// Loads a chunk into x and writes its weights to e (may be x; unspecified for a chunk with sum <=
/// 0).
template <class ExecutionSpace, LogitType Logit, class Team>
KOKKOS_FUNCTION ChunkPair measure_chunk(const Team& team, const ChunkSource<Logit>& source,
                                        InverseTemperature inverse, float* x, float* e) {
  if constexpr (runs_on_host<ExecutionSpace> && std::is_same_v<Logit, float>) {
    float maximum;
    if (stands_ready(source, maximum)) {
      return {maximum, weigh_chunk<ExecutionSpace>(team, source.logits, e, maximum, inverse)};
    }
  }
  std::int32_t status = 0;
  const float maximum = load_chunk<ExecutionSpace>(team, source, x, status);
  if (status != 0) return {negative_infinity, -static_cast<std::int64_t>(status)};
  if (maximum == negative_infinity) return {};
  return {maximum, weigh_chunk<ExecutionSpace>(team, x, e, maximum, inverse)};
}

}  // namespace tokkos
