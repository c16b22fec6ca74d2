// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/wrapping_sum.hpp"

#include <Kokkos_Core.hpp>

#include <cfloat>
#include <cstdint>

namespace tokkos {

/// Where a monotone predicate on inclusive prefix sums becomes true.
struct Crossing {
  std::int64_t index = -1;  ///< first item whose inclusive prefix crosses; -1 if none does
  std::int64_t before = 0;  ///< sum of the masses before it
};

/// Finds the first item of [begin, end) at which `crosses(inclusive prefix of mass(i))` holds; the
/// prefix starts at `before`. Masses are summed in blocks, which vectorizes, up to the block where
/// it happens.
template <class Mass, class Crosses>
KOKKOS_FUNCTION Crossing crossing_within(std::int64_t begin, std::int64_t end, std::int64_t before,
                                         const Mass& mass, const Crosses& crosses) {
  constexpr std::int64_t block = 64;
  std::int64_t prefix = before;
  for (std::int64_t first = begin; first < end; first += block) {
    const int length = static_cast<int>(Kokkos::min(block, end - first));
    std::uint64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < length; ++j) sum += static_cast<std::uint64_t>(mass(first + j));
    const std::int64_t all = wrapping_sum(prefix, static_cast<std::int64_t>(sum));
    if (!crosses(all)) {
      prefix = all;
      continue;
    }
    for (int j = 0; j < length; ++j) {
      const std::int64_t next = wrapping_sum(prefix, mass(first + j));
      if (crosses(next)) return {first + j, prefix};
      prefix = next;
    }
  }
  return {};
}

/// Finds the first of `count` items at which `crosses(inclusive prefix of mass(i))` holds. Sums are
/// integers, so the answer does not depend on the team. Every member gets it.
template <class Team, class Mass, class Crosses>
KOKKOS_FUNCTION Crossing first_crossing(const Team& team, std::int64_t count, const Mass& mass,
                                        const Crosses& crosses) {
  if (team.team_size() == 1) return crossing_within(0, count, 0, mass, crosses);
  const std::int64_t share = (count + team.team_size() - 1) / team.team_size();
  const std::int64_t begin = Kokkos::min(share * team.team_rank(), count);
  const std::int64_t end = Kokkos::min(begin + share, count);
  std::int64_t own = 0;
  for (std::int64_t i = begin; i < end; ++i) own = wrapping_sum(own, mass(i));
  const std::int64_t prefix = team.team_scan(own);
  Crossing found;
  if (!crosses(prefix) && crosses(wrapping_sum(prefix, own))) {
    found = crossing_within(begin, end, prefix, mass, crosses);
  }
  team.team_reduce(Kokkos::Max<std::int64_t>(found.index));
  team.team_reduce(Kokkos::Max<std::int64_t>(found.before));
  return found;
}

/// A uniform from a device array, brought into [0, 1 - 2^-24]; NaN stays NaN.
KOKKOS_FORCEINLINE_FUNCTION float clamped_uniform(float u) {
  constexpr float largest = 1.0f - 0x1p-24f;
  if (u < 0.0f) return 0.0f;
  return u > largest ? largest : u;
}

}  // namespace tokkos
