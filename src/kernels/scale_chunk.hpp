// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/chunk_kernel.hpp"
#include "kernels/row_total.hpp"

#include <Kokkos_Core.hpp>

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

/// out = e * factor for the tokens that exist, exactly 0 for the other places; all 0 for factor 0.
/// e may be out.
template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION void scale_chunk(const Team& team, const float* e, float* out, float factor,
                                 ChunkRoom room) {
  constexpr int width = runs_on_host<ExecutionSpace> ? chunk_size : load_width<ExecutionSpace>;
  const int active = factor > 0.0f ? room.active : 0;
  for (int first = team.team_rank() * width; first < room.places;
       first += team.team_size() * width) {
    const int end = first + width < room.places ? first + width : room.places;
    const int end_active = end < active ? end : (active > first ? active : first);
    // hot loop
#pragma omp simd
    for (int j = first; j < end_active; ++j) out[j] = probability(e[j], factor);
    for (int j = end_active; j < end; ++j) out[j] = 0.0f;
  }
}

}  // namespace tokkos
