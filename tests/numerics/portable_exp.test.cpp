// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/portable_exp.hpp>

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

constexpr std::uint32_t minus_zero = 0x80000000u;
constexpr std::uint32_t minus_infinity = 0xff800000u;
constexpr std::uint32_t block_size = 1u << 14;

/// The exponential of a whole block in double; where it is surely below FLT_MIN, 0.
void exact_exponentials(std::uint32_t first, std::uint32_t count, double* exact) {
  const float nearest = std::bit_cast<float>(first);
  const float farthest = std::bit_cast<float>(first + count - 1);
  if (farthest > -0x1p-25f) {
    // The next term of the series is below 2^-77.
    for (std::uint32_t i = 0; i < count; ++i) {
      const double z = std::bit_cast<float>(first + i);
      exact[i] = 1.0 + z + 0.5 * z * z;
    }
  } else if (nearest < -88.0f) {
    std::fill_n(exact, count, 0.0);
  } else {
    for (std::uint32_t i = 0; i < count; ++i) {
      exact[i] = std::exp(static_cast<double>(std::bit_cast<float>(first + i)));
    }
  }
}

void check_block(std::uint64_t block, SweepFindings& findings) {
  const std::uint32_t first = minus_zero + static_cast<std::uint32_t>(block) * block_size;
  const std::uint32_t count = std::min(block_size, minus_infinity - first + 1);
  std::array<float, block_size + 1> value;  // of the float before the block, then of the block
  std::array<double, block_size> exact;
  std::array<double, block_size> in_ulp;
  value[0] = first == minus_zero ? 1.0f : tokkos::portable_exp(std::bit_cast<float>(first - 1));
  for (std::uint32_t i = 0; i < count; ++i) {
    value[i + 1] = tokkos::portable_exp(std::bit_cast<float>(first + i));
  }
  exact_exponentials(first, count, exact.data());
  std::uint32_t not_monotone = 0;
  std::uint32_t wrong_zero = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    not_monotone += value[i + 1] <= value[i] ? 0 : 1;
    const bool below = exact[i] < static_cast<double>(FLT_MIN);
    wrong_zero += below == (value[i + 1] == 0.0f) ? 0 : 1;
    const double error = std::fabs(static_cast<double>(value[i + 1]) - exact[i]);
    in_ulp[i] = below ? 0.0 : error / tokkos::test::float_ulp(exact[i]);
  }
  findings.note(in_ulp.data(), first, count);
  findings.not_monotone += not_monotone;
  findings.wrong_zero += wrong_zero;
  findings.visited += count;
}

}  // namespace

TEST_CASE("portable_exp is right on every float of its domain") {
  const std::uint64_t floats = std::uint64_t{minus_infinity} - minus_zero + 1;
  const std::uint64_t blocks = (floats + block_size - 1) / block_size;
  const SweepFindings findings = tokkos::test::sweep_blocks(blocks, check_block);
  CAPTURE(findings.worst_at);
  CHECK(findings.visited == floats);
  CHECK(findings.worst_ulp <= 1.1);
  CHECK(findings.not_monotone == 0);
  CHECK(findings.wrong_zero == 0);
}

TEST_CASE("portable_exp is exact at zero and 0 at minus infinity") {
  CHECK(tokkos::portable_exp(0.0f) == 1.0f);
  CHECK(tokkos::portable_exp(-0.0f) == 1.0f);
  CHECK(tokkos::portable_exp(-std::numeric_limits<float>::infinity()) == 0.0f);
  CHECK(tokkos::portable_exp(-FLT_MAX) == 0.0f);
  CHECK(tokkos::portable_exp(std::numeric_limits<float>::quiet_NaN()) == 0.0f);
}
