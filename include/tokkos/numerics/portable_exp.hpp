// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <Kokkos_MathematicalFunctions.hpp>
#include <cstdint>

namespace tokkos {

/// e to the power z for z in [-infinity, 0], float32: the same bits on every backend.
///
/// Within 1.1 ulp of the exact value where that is at least FLT_MIN and exactly 0 below; monotone;
/// exactly 1 at 0 (a test walks through every float of the domain). NaN gives 0. The value of a
/// positive z is unspecified. z = n ln 2 + r in two terms, then a polynomial of degree 6 in r.
KOKKOS_FORCEINLINE_FUNCTION float portable_exp(float z) {
  constexpr float smallest = -0x1.5d589ep+6f;  // the last float whose exponential is >= FLT_MIN
  constexpr float log2_e = 0x1.715476p+0f;
  constexpr float round_to_integer = 0x1.8p23f;  // adding it leaves n in the low mantissa bits
  constexpr float ln2_high = 0x1.62e4p-1f;       // n * ln2_high is exact
  constexpr float ln2_low = 0x1.7f7d1cp-20f;
  const float shifted = Kokkos::fma(z, log2_e, round_to_integer);
  const float n = shifted - round_to_integer;
  const float r = Kokkos::fma(n, -ln2_low, Kokkos::fma(n, -ln2_high, z));
  float p = 0x1.693f88p-10f;
  p = Kokkos::fma(p, r, 0x1.12398ap-7f);
  p = Kokkos::fma(p, r, 0x1.555a60p-5f);
  p = Kokkos::fma(p, r, 0x1.555492p-3f);
  p = Kokkos::fma(p, r, 0x1.fffff8p-2f);
  const float power = Kokkos::fma(r * r, p, r) + 1.0f;
  // Scaling by 2^n is an addition to the exponent field: the result is a normal number.
  const std::uint32_t bits =
      __builtin_bit_cast(std::uint32_t, power) + (__builtin_bit_cast(std::uint32_t, shifted) << 23);
  return z >= smallest ? __builtin_bit_cast(float, bits) : 0.0f;
}

}  // namespace tokkos
