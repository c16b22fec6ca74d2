// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/split_grid.hpp>

#include "kernels/chunk_kernel.hpp"
#include "numerics/prefetch.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

// A draw that ends in a forgotten chunk needs the logits of a part of it only: the masses of its
// pieces, which were summed while it was there, say of which.

namespace tokkos {

/// Tokens of a piece.
inline constexpr int piece_size = 256;
inline constexpr int pieces_per_chunk = chunk_size / piece_size;

/// The mass of each piece of the chunks from `first_chunk` on, in units of 2^-44: the sum of its
/// tokens' weights against the chunk's maximum, each rounded to the grid, as a draw sums them.
template <class MemorySpace>
struct PieceMasses {
  /// [n, pieces], or empty: nothing is drawn, or nothing forgotten.
  Matrix<std::int64_t, MemorySpace> masses;
  std::int64_t first_chunk = 0;

  /// Those of a chunk; null if it is none that is forgotten.
  KOKKOS_FUNCTION std::int64_t* of_chunk(std::int64_t row, std::int64_t chunk) const {
    if (masses.data() == nullptr || chunk < first_chunk) return nullptr;
    return &masses(row, (chunk - first_chunk) * pieces_per_chunk);
  }
};

/// The sum of some weights on the grid.
template <int count>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t sum_weights(const float* e) {
  static_assert(count <= 256);
  std::uint32_t coarse = 0, fine = 0;
  // hot loop
#pragma omp simd reduction(+ : coarse, fine)
  for (int j = 0; j < count; ++j) {
    const GridParts parts = GridParts::of(e[j]);
    coarse += parts.coarse;
    fine += parts.fine;
  }
  return sum_of_parts({coarse, fine}, count);
}

/// On a host: the sum of a chunk's weights as weigh_chunk makes it, and the masses of its pieces.
/// The weights of four pieces at a time stand in e (x may be e, whose logits are read by then), so
/// that they stay in the nearest cache. The chunk at `ahead` (null: none) travels meanwhile.
template <bool greedy>
KOKKOS_INLINE_FUNCTION std::int64_t weigh_pieces(const float* x, float* e, float maximum,
                                                 float inverse, const float* ahead,
                                                 std::int64_t* masses) {
  constexpr int width = 64, line = 16, quarters = chunk_size / groups_per_chunk;
  std::int64_t sum = 0;
  for (int first = 0; first < groups_per_chunk; first += piece_size) {
    for (int g = first; g < first + piece_size; g += width) {
      if (ahead != nullptr) {
        for (int j = 0; j < quarters * width; j += line) prefetch(ahead + quarters * g + j);
      }
      sum += weigh_groups<width, greedy>(x + g, e + g - first, maximum, inverse);
    }
    for (int q = 0; q < quarters; ++q) {
      masses[(q * groups_per_chunk + first) / piece_size] =
          sum_weights<piece_size>(e + q * groups_per_chunk);
    }
  }
  return sum;
}

/// On a device: the masses of a chunk's pieces from its weights.
template <class Team>
KOKKOS_FUNCTION void sum_pieces(const Team& team, const float* e, std::int64_t* masses) {
  constexpr int part = 16;  // of a piece, that a thread sums
  for (int p = team.team_rank(); p < pieces_per_chunk; p += team.team_size()) masses[p] = 0;
  team.team_barrier();  // all are 0
  for (int first = part * team.team_rank(); first < chunk_size; first += part * team.team_size()) {
    Kokkos::atomic_add(masses + first / piece_size, sum_weights<part>(e + first));
  }
}

/// measure_chunk that writes the masses of the chunk's pieces too, if it has weights. e is the
/// team's scratch.
template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION ChunkPair measure_pieces(const Team& team, const ChunkSource<float>& source,
                                         InverseTemperature inverse, float* e, const float* ahead,
                                         std::int64_t* masses) {
  const ReadyChunk ready = ready_chunk<ExecutionSpace>(team, source, e);
  if (!ready.has_weights()) return ready.pair_without();
  if constexpr (runs_on_host<ExecutionSpace>) {
    const float* x = ready.logits;
    const std::int64_t sum =
        inverse.greedy ? weigh_pieces<true>(x, e, ready.maximum, inverse.value, ahead, masses)
                       : weigh_pieces<false>(x, e, ready.maximum, inverse.value, ahead, masses);
    return {ready.maximum, sum};
  } else {
    const std::int64_t sum =
        weigh_chunk<ExecutionSpace>(team, source, ready.logits, e, ready.maximum, inverse);
    sum_pieces(team, e, masses);
    return {ready.maximum, sum};
  }
}

}  // namespace tokkos
