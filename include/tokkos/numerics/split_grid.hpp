// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/numerics/exact_sum.hpp>

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace tokkos {

/// A number of [0, 1] on the grid of exact_sum.hpp in two parts of 32 bits, which vectorize twice
/// as wide as one of 64. Parts are added as they are; sum_of_parts takes the biases off.
struct GridParts {
  std::uint32_t coarse = 0;  ///< in units of 2^-21, plus a bias
  std::uint32_t fine = 0;    ///< what that leaves, in units of 2^-44, plus a bias

  /// 1.5 * 2^k with k = 2 and -21: what is added to one is rounded, ties to even, to a multiple of
  /// 2^(k - 23).
  static constexpr float coarse_shift = 6.0f;
  static constexpr float fine_shift = 1.5f * 0x1p-21f;  ///< the same for the fine part

  /// The parts of x in [0, 1].
  KOKKOS_FORCEINLINE_FUNCTION static GridParts of(float x) {
    const float rounded = x + coarse_shift;
    const float rest = x - (rounded - coarse_shift);  // both differences are exact
    return {__builtin_bit_cast(std::uint32_t, rounded),
            __builtin_bit_cast(std::uint32_t, rest + fine_shift)};
  }
};

/// The sum of `count` numbers, at most 256, whose parts were added: that of their to_grid.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t sum_of_parts(GridParts sums, std::uint32_t count) {
  const std::uint32_t coarse =
      sums.coarse - count * __builtin_bit_cast(std::uint32_t, GridParts::coarse_shift);
  const std::uint32_t fine =
      sums.fine - count * __builtin_bit_cast(std::uint32_t, GridParts::fine_shift);
  return (static_cast<std::int64_t>(coarse) << 23) + static_cast<std::int32_t>(fine);
}

}  // namespace tokkos
