// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>

namespace tokkos {

/// Sums of probabilities are integers in units of 2^-44: their value does not depend on the order
/// of addition, so not on the team, the vector length, the number of threads or the backend either.
inline constexpr double grid_unit = 0x1p-44;

/// One on the grid.
inline constexpr std::int64_t grid_one = std::int64_t{1} << 44;

/// Nearest integer to x, ties to even, for x in [0, 2^63), and some integer for any other: the same
/// on host and device.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t round_to_integer(double x) {
  // Adding 2^52 leaves the rounded integer in the mantissa; from 2^52 on a double is an integer.
  constexpr double shift = 0x1p52;
  const std::int64_t small =
      __builtin_bit_cast(std::int64_t, x + shift) - __builtin_bit_cast(std::int64_t, shift);
  return x < shift ? small : static_cast<std::int64_t>(x < 0x1p63 ? x : 0.0);
}

/// What grid_bits adds to each number.
inline constexpr std::uint64_t grid_bias = __builtin_bit_cast(std::uint64_t, 0x1p52);

/// x in units of 2^-44, nearest even, plus grid_bias, for x in [0, 128): sums of many take the
/// biases off at the end, modulo 2^64.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t grid_bits(float x) {
  // The product is exact, so this rounds once.
  return __builtin_bit_cast(std::uint64_t, Kokkos::fma(static_cast<double>(x), 0x1p44, 0x1p52));
}

/// x in units of 2^-44, nearest even, for x in [0, 128).
KOKKOS_FORCEINLINE_FUNCTION std::int64_t to_grid(float x) {
  return static_cast<std::int64_t>(grid_bits(x) - grid_bias);
}

/// The float32 nearest to sum * 2^-44 (one rounding; the scaling is exact).
KOKKOS_FORCEINLINE_FUNCTION float from_grid(std::int64_t sum) {
  return static_cast<float>(sum) * 0x1p-44f;
}

}  // namespace tokkos
