// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace tokkos {

/// A bfloat16 in memory: two bytes, no arithmetic. Widening is exact; narrowing rounds to
/// nearest-even, and a finite value never becomes infinite (it saturates at the largest finite).
struct bfloat16 {
  /// The upper half of a float32.
  std::uint16_t bits;

  /// Its value, exactly.
  KOKKOS_FORCEINLINE_FUNCTION float widen() const {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  }

  /// The nearest one, ties to even; a finite x stays finite.
  KOKKOS_INLINE_FUNCTION static bfloat16 narrow(float x) {
    const auto b = __builtin_bit_cast(std::uint32_t, x);
    const std::uint32_t magnitude = b & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return {static_cast<std::uint16_t>((b >> 16) | 0x40u)};
    if (magnitude == 0x7f800000u) return {static_cast<std::uint16_t>(b >> 16)};
    const std::uint32_t rounded = (magnitude + 0x7fffu + ((magnitude >> 16) & 1u)) >> 16;
    const std::uint32_t finite = rounded < 0x7f80u ? rounded : 0x7f7fu;
    return {static_cast<std::uint16_t>(finite | ((b >> 16) & 0x8000u))};
  }

  /// -infinity.
  KOKKOS_INLINE_FUNCTION static bfloat16 negative_infinity() { return {0xff80}; }
};

static_assert(sizeof(bfloat16) == 2);

}  // namespace tokkos
