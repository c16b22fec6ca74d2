// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/chunk_kernel.hpp"
#include "kernels/row_total.hpp"
#include "numerics/four.hpp"
#include "numerics/streaming_store.hpp"

#include <Kokkos_Core.hpp>

#include <cfloat>
#include <cstdint>

namespace tokkos {

/// How many tokens of a chunk exist, and how many places it has in the row.
struct ChunkRoom {
  int active;
  int places;
};

template <class Rows>
KOKKOS_FUNCTION ChunkRoom chunk_room(const Rows& rows, std::int64_t chunk) {
  const std::int64_t first = chunk * chunk_size;
  const auto within = [first](std::int64_t end) {
    const std::int64_t left = end - first;
    return static_cast<int>(left < 0 ? 0 : (left < chunk_size ? left : chunk_size));
  };
  return {within(rows.active()), within(rows.vocabulary())};
}

/// Weights below it become less than FLT_MIN; the few above it that do are found by their product.
/// Processors are slow at products that are subnormal, and a low temperature makes many.
KOKKOS_FORCEINLINE_FUNCTION float least_weight(float factor) {
  return FLT_MIN / factor * (1.0f - 0x1p-20f);
}

/// A weight as probability; below FLT_MIN exactly 0.
KOKKOS_FORCEINLINE_FUNCTION float probability(float weight, float factor, float least) {
  const float p = (weight >= least ? weight : 0.0f) * factor;
  return p >= FLT_MIN ? p : 0.0f;
}

/// out = e * factor for the tokens that exist, exactly 0 for the other places; all 0 for factor 0.
/// e may be out.
template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION void scale_chunk(const Team& team, const float* e, float* out, float factor,
                                 ChunkRoom room) {
  constexpr int width = runs_on_host<ExecutionSpace> ? chunk_size : 4;
  const int active = factor > 0.0f ? room.active : 0;
  const float least = least_weight(factor);
  const bool by_four = !runs_on_host<ExecutionSpace> && may_hold_four(out) && may_hold_four(e);
  for (int first = team.team_rank() * width; first < room.places;
       first += team.team_size() * width) {
    const int end = first + width < room.places ? first + width : room.places;
    const int end_active = end < active ? end : (active > first ? active : first);
    if (by_four && end_active == first + 4) {
      Four<float> four = load_four(e + first);
      for (float& value : four.values) value = probability(value, factor, least);
      store_four(out + first, four);
      continue;
    }
    // hot loop
#pragma omp simd
    for (int j = first; j < end_active; ++j) out[j] = probability(e[j], factor, least);
    for (int j = end_active; j < end; ++j) out[j] = 0.0f;
  }
}

/// The same on a host for rows that are too many for its caches; e is not out.
KOKKOS_INLINE_FUNCTION void stream_chunk(const float* e, float* out, float factor, ChunkRoom room) {
  constexpr int width = 4 * floats_per_line;
  const int active = factor > 0.0f ? room.active : 0;
  const float least = least_weight(factor);
  const int head = floats_to_line(out) < active ? floats_to_line(out) : active;
  int j = 0;
  for (; j < head; ++j) out[j] = probability(e[j], factor, least);
  for (; j + width <= active; j += width) {
    float block[width];
    // hot loop
#pragma omp simd
    for (int k = 0; k < width; ++k) block[k] = probability(e[j + k], factor, least);
    for (int k = 0; k < width; k += floats_per_line) stream_line(out + j + k, block + k);
  }
  for (; j < active; ++j) out[j] = probability(e[j], factor, least);
  for (; j < room.places; ++j) out[j] = 0.0f;
}

}  // namespace tokkos
