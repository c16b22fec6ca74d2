// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/storage_reference.hpp"

#include <cmath>
#include <limits>

namespace tokkos::test {

double SixteenBitFormat::widen(std::uint16_t bits) const {
  const int fraction_values = 1 << fraction_bits;
  const int exponent_values = 1 << exponent_bits;
  const int bias = exponent_values / 2 - 1;
  const int fraction = bits % fraction_values;
  const int exponent = (bits / fraction_values) % exponent_values;
  const double sign = bits >= 0x8000 ? -1.0 : 1.0;
  if (exponent == exponent_values - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction_values + fraction, exponent - bias - fraction_bits);
}

std::uint16_t SixteenBitFormat::largest() const {
  return static_cast<std::uint16_t>((((1 << exponent_bits) - 1) << fraction_bits) - 1);
}

std::uint16_t SixteenBitFormat::narrow(double x) const {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const std::uint16_t infinity = largest() + 1;
  if (std::isnan(x)) return sign | (infinity + (1u << (fraction_bits - 1)));
  const double magnitude = std::fabs(x);
  if (std::isinf(x)) return sign | infinity;
  if (magnitude >= widen(largest())) return sign | largest();
  // Patterns are ordered as the magnitudes are: bisect for the two neighbours.
  std::uint16_t low = 0;
  std::uint16_t high = largest();
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (widen(middle) <= magnitude ? low : high) = middle;
  }
  const double to_low = magnitude - widen(low);
  const double to_high = widen(high) - magnitude;
  const bool up = to_high < to_low || (to_high == to_low && (high & 1) == 0);
  return sign | (up ? high : low);
}

}  // namespace tokkos::test
