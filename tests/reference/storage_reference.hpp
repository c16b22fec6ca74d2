// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tokkos::test {

/// The 16-bit formats by their definitions in double arithmetic, for comparison.
struct SixteenBitFormat {
  int exponent_bits;
  int fraction_bits;

  /// The number that a bit pattern stands for (infinities and NaN included).
  double widen(std::uint16_t bits) const;
  /// The pattern of the nearest number, ties to the even pattern; finite overflow saturates.
  std::uint16_t narrow(double x) const;
  /// The pattern of the largest finite number.
  std::uint16_t largest() const;
};

inline constexpr SixteenBitFormat bfloat16_format{8, 7};
inline constexpr SixteenBitFormat float16_format{5, 10};

}  // namespace tokkos::test
