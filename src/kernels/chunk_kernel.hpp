// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include "kernels/launch.hpp"
#include "kernels/load_chunk.hpp"
#include "numerics/four.hpp"
#include "numerics/wrapping_sum.hpp"

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

/// Groups that a team member weighs at a time.
template <class ExecutionSpace>
inline constexpr int weigh_width =
    runs_on_host<ExecutionSpace> ? 64 : groups_per_chunk / chunk_team;

/// Turns the logits of a group into weights and returns their sum on the grid, with its bias.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t weigh_group(InverseTemperature scale, float maximum,
                                                      float& e0, float& e1, float& e2, float& e3) {
  e0 = scale.weight(e0, maximum);
  e1 = scale.weight(e1, maximum);
  e2 = scale.weight(e2, maximum);
  e3 = scale.weight(e3, maximum);
  return grid_bits((e0 + e1) + (e2 + e3));
}

/// Writes the weights of `width` groups from the logits in x (may be e itself) to e; returns the
/// sum.
template <int width, bool greedy>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t weigh_groups(const float* x, float* e, float maximum,
                                                      float inverse) {
  constexpr int stride = groups_per_chunk;
  const InverseTemperature scale{inverse, greedy};
  std::uint64_t sum = 0;
  if constexpr (width == 4) {
    Four<float> e0 = load_four(x), e1 = load_four(x + stride), e2 = load_four(x + 2 * stride),
                e3 = load_four(x + 3 * stride);
    for (int g = 0; g < 4; ++g) {
      sum += weigh_group(scale, maximum, e0.values[g], e1.values[g], e2.values[g], e3.values[g]);
    }
    store_four(e, e0);
    store_four(e + stride, e1);
    store_four(e + 2 * stride, e2);
    store_four(e + 3 * stride, e3);
  } else {
    // hot loop
#pragma omp simd reduction(+ : sum)
    for (int g = 0; g < width; ++g) {
      float e0 = x[g], e1 = x[g + stride], e2 = x[g + 2 * stride], e3 = x[g + 3 * stride];
      sum += weigh_group(scale, maximum, e0, e1, e2, e3);
      e[g] = e0;
      e[g + stride] = e1;
      e[g + 2 * stride] = e2;
      e[g + 3 * stride] = e3;
    }
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
    sum = wrapping_sum(sum, inverse.greedy
                                ? weigh_groups<width, true>(x + g, e + g, maximum, inverse.value)
                                : weigh_groups<width, false>(x + g, e + g, maximum, inverse.value));
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

/// The logits of a chunk as they can be weighed, and their maximum. Of a chunk with a status, or
/// with no token allowed (its maximum is -infinity), nothing is to be weighed.
struct ReadyChunk {
  const float* logits;
  float maximum = negative_infinity;
  std::int32_t status = 0;

  KOKKOS_FUNCTION bool has_weights() const { return status == 0 && maximum != negative_infinity; }
  /// The pair of a chunk without weights.
  KOKKOS_FUNCTION ChunkPair pair_without() const {
    if (status != 0) return {negative_infinity, -static_cast<std::int64_t>(status)};
    return {};
  }
};

/// Finds a chunk's logits: where they stand, or in x, with room for chunk_size, if they must be
/// loaded.
template <class ExecutionSpace, LogitType Logit, class Team>
KOKKOS_FUNCTION ReadyChunk ready_chunk(const Team& team, const ChunkSource<Logit>& source,
                                       float* x) {
  if constexpr (runs_on_host<ExecutionSpace> && std::is_same_v<Logit, float>) {
    if (source.mask_words == nullptr && source.size == chunk_size) {
      const LogitRange range = range_of<chunk_size>(source.logits);
      if (!range.has_odd && range.maximum > masked_logit && range.maximum <= FLT_MAX) {
        return {source.logits, range.maximum};
      }
    }
  }
  ReadyChunk ready{x};
  ready.maximum = load_chunk<ExecutionSpace>(team, source, x, ready.status);
  return ready;
}

/// Writes the weights of a chunk to e, by way of x where its logits must be loaded (x may be e;
/// both have room for chunk_size); unspecified for a chunk with sum <= 0.
template <class ExecutionSpace, LogitType Logit, class Team>
KOKKOS_FUNCTION ChunkPair measure_chunk(const Team& team, const ChunkSource<Logit>& source,
                                        InverseTemperature inverse, float* x, float* e) {
  const ReadyChunk ready = ready_chunk<ExecutionSpace>(team, source, x);
  if (!ready.has_weights()) return ready.pair_without();
  return {ready.maximum,
          weigh_chunk<ExecutionSpace>(team, source, ready.logits, e, ready.maximum, inverse)};
}

}  // namespace tokkos
