// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace tokkos {

/// An IEEE binary16 in memory: two bytes, no arithmetic. Widening is exact; narrowing rounds to
/// nearest-even, and a finite value never becomes infinite (it saturates at 65504).
struct float16 {
  /// Sign, 5 bits of exponent, 10 of significand.
  std::uint16_t bits;

  /// Branch-free, so that loops over it vectorize.
  KOKKOS_FORCEINLINE_FUNCTION float widen() const {
    const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fffu) << 13;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    // A subnormal is fraction * 2^-24: an integer below 2^10, which converts exactly.
    const float subnormal =
        static_cast<float>(static_cast<std::int32_t>(magnitude >> 13)) * 0x1p-24f;
    const std::uint32_t normal = magnitude + (112u << 23);
    const std::uint32_t special = magnitude + (224u << 23);
    std::uint32_t wide = magnitude >= (31u << 23) ? special : normal;
    wide = magnitude < (1u << 23) ? __builtin_bit_cast(std::uint32_t, subnormal) : wide;
    return __builtin_bit_cast(float, wide | sign);
  }

  /// The nearest one, ties to even; a finite x stays finite.
  KOKKOS_INLINE_FUNCTION static float16 narrow(float x) {
    const auto b = __builtin_bit_cast(std::uint32_t, x);
    const std::uint32_t magnitude = b & 0x7fffffffu;
    const std::uint32_t sign = (b >> 16) & 0x8000u;
    return {static_cast<std::uint16_t>(sign | narrow_magnitude(magnitude))};
  }

  /// -infinity.
  KOKKOS_INLINE_FUNCTION static float16 negative_infinity() { return {0xfc00}; }

 private:
  KOKKOS_INLINE_FUNCTION static std::uint32_t narrow_magnitude(std::uint32_t magnitude) {
    if (magnitude > 0x7f800000u) return 0x7e00u;
    if (magnitude == 0x7f800000u) return 0x7c00u;
    if (magnitude >= 0x38800000u) {  // at least 2^-14: a normal binary16
      const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23);
      const std::uint32_t half = rounded >> 13;
      return half < 0x7c00u ? half : 0x7bffu;
    }
    if (magnitude <= 0x33000000u) return 0;  // at most 2^-25: a tie with zero, or less
    const std::uint32_t shift = 126u - (magnitude >> 23);  // in [14, 24]
    const std::uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t rest = fraction & ((1u << shift) - 1u);
    const std::uint32_t half_way = 1u << (shift - 1u);
    std::uint32_t half = fraction >> shift;
    if (rest > half_way || (rest == half_way && (half & 1u))) ++half;
    return half;
  }
};

static_assert(sizeof(float16) == 2);

}  // namespace tokkos
