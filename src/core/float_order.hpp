// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace tokkos {

/// A whole number that grows with x, 0 for either zero; NaN lies outside both infinities'. Numbers
/// of a caller are compared by it, because a thread that flushes to zero takes a subnormal for 0.
constexpr std::int64_t float_order(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7fffffffu);
  return (bits >> 31) != 0 ? -magnitude : magnitude;
}

/// Whether lowest <= x <= highest; not if x is NaN.
constexpr bool is_within(float x, float lowest, float highest) {
  return float_order(lowest) <= float_order(x) && float_order(x) <= float_order(highest);
}

/// Whether x rounds to a finite float32, to nearest; the same whatever rounding mode the caller is
/// in.
constexpr bool is_finite_as_float(double x) {
  constexpr double end = 0x1.ffffffp127;  // halfway to what would be the next float32
  return -end < x && x < end;
}

/// The smallest number above 0.
inline constexpr float least_positive = std::numeric_limits<float>::denorm_min();

}  // namespace tokkos
