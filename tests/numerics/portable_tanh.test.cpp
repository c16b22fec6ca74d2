// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/portable_tanh.hpp>

#include "float_sweep.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using tokkos::test::SweepFindings;

constexpr std::uint32_t block_size = 1u << 14;
constexpr std::uint32_t infinity_bits = 0x7f800000u;

/// Error in units of the last place; below FLT_MIN that is 2^-149, and tanh x there is x.
double error_in_ulp(float x, float value) {
  const auto wide = static_cast<double>(x);
  // Below 2^-13 the next terms of the series are less than 2^-53 of the result.
  const double exact = x < 0x1p-13f ? wide - wide * wide * wide / 3.0 : std::tanh(wide);
  const double unit = std::max(tokkos::test::float_ulp(exact), 0x1p-149);
  return exact == 0.0 ? 0.0 : std::fabs(static_cast<double>(value) - exact) / unit;
}

/// Every `step`-th float of a block, each compared with the one before it.
void check_block(std::uint64_t block, std::uint32_t step, SweepFindings& findings) {
  const std::uint32_t first = static_cast<std::uint32_t>(block) * block_size;
  std::array<double, block_size> in_ulp;
  float before = first == 0 ? 0.0f : tokkos::portable_tanh(std::bit_cast<float>(first - 1));
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < block_size; i += step) {
    const float x = std::bit_cast<float>(first + i);
    const float value = tokkos::portable_tanh(x);
    const float opposite = tokkos::portable_tanh(-x);
    findings.not_monotone += value >= before ? 0 : 1;
    const bool is_odd =
        std::bit_cast<std::uint32_t>(opposite) == (std::bit_cast<std::uint32_t>(value) | 1u << 31);
    const bool is_inside = value <= 1.0f && (value > 0.0f || x == 0.0f);
    findings.wrong_zero += is_odd && is_inside ? 0 : 1;
    // From 9.02 on the exact value rounds to 1.
    in_ulp[count++] = x < 9.02f ? error_in_ulp(x, value) : (value == 1.0f ? 0.0 : HUGE_VAL);
    before = value;
  }
  findings.note(in_ulp.data(), first, count);
  findings.visited += count;
}

void check_sweep(std::uint32_t step) {
  const std::uint64_t blocks = infinity_bits / block_size;
  const SweepFindings findings = tokkos::test::sweep_blocks(
      blocks, [=](std::uint64_t block, SweepFindings& found) { check_block(block, step, found); });
  CAPTURE(findings.worst_at);
  CHECK(findings.visited == std::uint64_t{infinity_bits} / step);
  CHECK(findings.worst_ulp <= 0.51);
  CHECK(findings.not_monotone == 0);
  CHECK(findings.wrong_zero == 0);
}

}  // namespace

TEST_CASE("portable_tanh is right, odd and monotone on a dense grid of floats") {
  check_sweep(64);
}

TEST_CASE("portable_tanh is right, odd and monotone on every float", "[slow]") {
  check_sweep(1);
}

TEST_CASE("portable_tanh keeps the sign of zero and the limits") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(std::bit_cast<std::uint32_t>(tokkos::portable_tanh(0.0f)) == 0u);
  CHECK(std::bit_cast<std::uint32_t>(tokkos::portable_tanh(-0.0f)) == 0x80000000u);
  CHECK(tokkos::portable_tanh(infinity) == 1.0f);
  CHECK(tokkos::portable_tanh(-infinity) == -1.0f);
  CHECK(tokkos::portable_tanh(FLT_MAX) == 1.0f);
  CHECK(tokkos::portable_tanh(FLT_TRUE_MIN) == FLT_TRUE_MIN);
  CHECK(std::isnan(tokkos::portable_tanh(std::nanf(""))));
}
