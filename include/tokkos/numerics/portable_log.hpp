// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <Kokkos_MathematicalFunctions.hpp>
#include <cfloat>
#include <cstdint>

namespace tokkos {

namespace detail {

/// ln x for a normal, positive x: absolute error below 1e-12, by basic double operations alone.
KOKKOS_INLINE_FUNCTION double log_in_double(double x) {
  constexpr std::int64_t one = std::int64_t{1023} << 52;
  constexpr std::int64_t half_octave = 0x6a09e667f3bcd;  // mantissa of sqrt(2)
  const auto bits = __builtin_bit_cast(std::int64_t, x);
  const std::int64_t mantissa = bits & 0xfffffffffffff;
  const std::int64_t up = mantissa > half_octave ? 1 : 0;
  const double exponent = static_cast<double>((bits >> 52) - 1023 + up);
  const double m = __builtin_bit_cast(double, mantissa | (one - (up << 52)));
  // ln m = 2 atanh(s), |s| < 0.1716
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double p = 2.0 / 17.0;
  p = Kokkos::fma(p, s2, 2.0 / 15.0);
  p = Kokkos::fma(p, s2, 2.0 / 13.0);
  p = Kokkos::fma(p, s2, 2.0 / 11.0);
  p = Kokkos::fma(p, s2, 2.0 / 9.0);
  p = Kokkos::fma(p, s2, 2.0 / 7.0);
  p = Kokkos::fma(p, s2, 2.0 / 5.0);
  p = Kokkos::fma(p, s2, 2.0 / 3.0);
  p = Kokkos::fma(p, s2, 2.0);
  constexpr double ln2 = 0x1.62e42fefa39efp-1;
  return Kokkos::fma(exponent, ln2, p * s);
}

}  // namespace detail

/// Natural logarithm of a float32, the same bits on every backend.
///
/// Within 1.1 ulp, monotone, exactly 0 at 1 (tested on every positive float, subnormal ones
/// included). 0 gives -infinity, +infinity itself, a negative number or NaN gives NaN.
KOKKOS_INLINE_FUNCTION float portable_log(float x) {
  if (!(x > 0.0f)) return x == 0.0f ? -__builtin_huge_valf() : __builtin_nanf("");
  if (x > FLT_MAX) return x;
  return static_cast<float>(detail::log_in_double(static_cast<double>(x)));
}

/// Natural logarithm of sum * 2^-44 for a sum >= 1 on the grid of exact_sum.hpp, rounded to
/// float32: within 1.1 ulp, monotone, the same bits on every backend. A sum < 1 gives -infinity.
KOKKOS_INLINE_FUNCTION float portable_log_of_grid(std::int64_t sum) {
  if (sum < 1) return -__builtin_huge_valf();
  return static_cast<float>(detail::log_in_double(static_cast<double>(sum) * 0x1p-44));
}

}  // namespace tokkos
