// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace tokkos {

/// An exact 128-bit product of two unsigned 64-bit integers.
struct WideProduct {
  std::uint64_t high = 0;  ///< the upper 64 bits
  std::uint64_t low = 0;   ///< the lower 64 bits

  KOKKOS_DEFAULTED_FUNCTION WideProduct() = default;

  /// a times b.
  KOKKOS_FUNCTION WideProduct(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t a0 = a & 0xffffffffu, a1 = a >> 32;
    const std::uint64_t b0 = b & 0xffffffffu, b1 = b >> 32;
    const std::uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    const std::uint64_t middle = (p00 >> 32) + (p01 & 0xffffffffu) + (p10 & 0xffffffffu);
    low = (middle << 32) | (p00 & 0xffffffffu);
    high = p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
  }

  /// Whether it is the larger product.
  KOKKOS_FUNCTION bool operator>(const WideProduct& other) const {
    return high != other.high ? high > other.high : low > other.low;
  }

  /// The product divided by 2^shift, rounded down; it must fit into 64 bits.
  KOKKOS_FUNCTION std::uint64_t shifted_right(int shift) const {
    if (shift <= 0) return low;
    if (shift >= 128) return 0;
    if (shift >= 64) return high >> (shift - 64);
    return (low >> shift) | (high << (64 - shift));
  }
};

/// A float of [0, 1) as mantissa * 2^-shift.
struct ShareParts {
  std::uint64_t mantissa;  ///< u is mantissa / 2^shift
  int shift;               ///< see mantissa

  /// @param u in [0, 1]
  KOKKOS_FUNCTION explicit ShareParts(float u) {
    const auto bits = __builtin_bit_cast(std::uint32_t, u);
    const int exponent = static_cast<int>((bits >> 23) & 0xffu);
    const std::uint64_t fraction = bits & 0x7fffffu;
    mantissa = exponent == 0 ? fraction : fraction | 0x800000u;
    shift = 150 - (exponent == 0 ? 1 : exponent);
  }
};

/// floor(u * sum), exactly, for u in [0, 1) and sum >= 0.
KOKKOS_INLINE_FUNCTION std::int64_t floor_of_share(float u, std::int64_t sum) {
  const ShareParts parts(u);
  return static_cast<std::int64_t>(
      WideProduct(parts.mantissa, static_cast<std::uint64_t>(sum)).shifted_right(parts.shift));
}

/// ceil(u * sum), exactly, for u in [0, 1) and sum >= 0.
KOKKOS_INLINE_FUNCTION std::int64_t ceil_of_share(float u, std::int64_t sum) {
  const ShareParts parts(u);
  // ceil(a / b) = floor((a - 1) / b) + 1 for a > 0
  WideProduct product(parts.mantissa, static_cast<std::uint64_t>(sum));
  if (product.high == 0 && product.low == 0) return 0;
  product.high -= product.low == 0 ? 1 : 0;
  product.low -= 1;
  return static_cast<std::int64_t>(product.shifted_right(parts.shift)) + 1;
}

}  // namespace tokkos
