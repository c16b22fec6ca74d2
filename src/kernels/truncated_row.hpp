// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/truncation.hpp>
#include <tokkos/numerics/exact_sum.hpp>
#include <tokkos/numerics/portable_exp.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "numerics/wrapping_sum.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

// What follows truncation: weights relative to the row's maximum, of kept tokens only.

namespace tokkos {

/// Throws unless the cuts, if given, are those of n rows.
template <class Space>
void check_cuts(const RowCuts<Space>& cuts, std::int64_t rows) {
  check_vector("cuts.logit", cuts.logit, rows);
  check_vector("cuts.token", cuts.token, rows);
  check_vector("cuts.mass", cuts.mass, rows);
  check_vector("cuts.count", cuts.count, rows);
}

template <class Space>
void check_optional_cuts(const RowCuts<Space>& cuts, std::int64_t rows) {
  const bool given = cuts.logit.data() != nullptr || cuts.token.data() != nullptr ||
                     cuts.mass.data() != nullptr || cuts.count.data() != nullptr;
  if (given) check_cuts(cuts, rows);
}

/// Row `row`'s cut; count -1 (not truncated) without cuts and for greedy rows.
template <class Space>
KOKKOS_FUNCTION RowCut cut_of(const RowCuts<Space>& cuts, std::int64_t row, bool greedy) {
  RowCut cut;
  cut.count = -1;
  if (cuts.count.data() == nullptr) return cut;
  const RowCut given = RowCut::of(cuts, row);
  return given.count <= 0 || !greedy ? given : cut;
}

/// A row's cut as one of its chunks sees it: places instead of ids.
struct ChunkCut {
  float logit;
  int last;  ///< the last kept place among those with this logit

  KOKKOS_FUNCTION static ChunkCut of(const RowCut& cut, std::int64_t chunk) {
    const std::int64_t place = cut.token - chunk * chunk_size;
    return {cut.logit,
            static_cast<int>(Kokkos::clamp(place, std::int64_t{-1}, std::int64_t{chunk_size}))};
  }

  KOKKOS_FORCEINLINE_FUNCTION bool keeps(float x, int place) const {
    return x > logit || (x == logit && place <= last);
  }
};

/// Turns `width` loaded logits into weights, 0 for those that are cut; returns their sum.
template <int width>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t weigh_kept_block(ChunkCut cut, float maximum,
                                                          float inverse, float* e) {
  std::uint32_t any = 0;
  // hot loop
#pragma omp simd reduction(| : any)
  for (int j = 0; j < width; ++j) any |= e[j] >= cut.logit ? 1u : 0u;
  if (any == 0) {
    for (int j = 0; j < width; ++j) e[j] = 0.0f;
    return 0;
  }
  std::uint64_t sum = 0;
  // hot loop
#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < width; ++j) {
    const float weight = portable_exp((e[j] - maximum) * inverse);
    e[j] = cut.keeps(e[j], j) ? weight : 0.0f;
    sum += grid_bits(e[j]);
  }
  return static_cast<std::int64_t>(sum - width * grid_bias);
}

/// Turns a loaded chunk of a truncated row into the weights exp((x - maximum) / T) of its kept
/// tokens, 0 for the others; returns the sum of their masses RNE(weight * 2^44) to every member.
template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION std::int64_t weigh_kept(const Team& team, const RowCut& cut, std::int64_t chunk,
                                        float maximum, InverseTemperature inverse, float* e) {
  constexpr int width = runs_on_host<ExecutionSpace> ? 64 : 4;
  const ChunkCut all = ChunkCut::of(cut, chunk);
  std::int64_t sum = 0;
  for (int first = team.team_rank() * width; first < chunk_size;
       first += team.team_size() * width) {
    sum = wrapping_sum(sum, weigh_kept_block<width>({all.logit, all.last - first}, maximum,
                                                    inverse.value, e + first));
  }
  team.team_reduce(Kokkos::Sum<std::int64_t>(sum));
  team.team_barrier();  // other members read the weights
  return sum;
}

/// RNE(weight * 2^44) as float32, which holds it exactly, for a weight in [0, 1].
KOKKOS_FORCEINLINE_FUNCTION float grid_mass(float weight) {
  constexpr float shift = 0x1p23f;  // from here on every float32 is an integer
  const float scaled = weight * 0x1p44f;
  return scaled < shift ? (scaled + shift) - shift : scaled;
}

}  // namespace tokkos
