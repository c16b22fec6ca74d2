// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/portable_log.hpp>

#include "float_sweep.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using tokkos::test::SweepFindings;

constexpr std::uint32_t block_size = 1u << 14;
constexpr std::uint32_t mantissas = 1u << 23;
constexpr std::uint32_t blocks_per_octave = mantissas / block_size;
constexpr std::uint32_t half_octave = 0x3504f3u;  // mantissas above it are halved: |log m| < 0.35

/// log m for every mantissa m, scaled into [sqrt(1/2), sqrt(2)]: log x = log m + n log 2 without
/// cancellation. Calling std::log on all of 2^31 floats would take a minute.
std::vector<double> logarithms_of_mantissas() {
  std::vector<double> table(mantissas);
  for (std::uint32_t i = 0; i < mantissas; ++i) {
    const double m = 1.0 + i * 0x1p-23;
    table[i] = std::log(i > half_octave ? 0.5 * m : m);
  }
  return table;
}

void exact_logarithms(std::uint32_t first, const std::vector<double>& table, double* exact) {
  constexpr double ln2 = 0.693147180559945309417232121458;
  const int octave = static_cast<int>(first / mantissas);
  const std::uint32_t mantissa = first % mantissas;
  for (std::uint32_t i = 0; i < block_size; ++i) {
    if (octave == 0) {
      exact[i] = std::log(static_cast<double>(std::bit_cast<float>(first + i)));
    } else {
      const int up = mantissa + i > half_octave ? 1 : 0;
      exact[i] = table[mantissa + i] + (octave - 127 + up) * ln2;
    }
  }
}

void check_block(std::uint64_t block, const std::vector<double>& table, SweepFindings& findings) {
  const std::uint32_t first = static_cast<std::uint32_t>(block) * block_size;
  std::array<float, block_size + 1> value;  // of the float before the block, then of the block
  std::array<double, block_size> exact;
  std::array<double, block_size> in_ulp;
  constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
  value[0] = first == 0 ? minus_infinity : tokkos::portable_log(std::bit_cast<float>(first - 1));
  for (std::uint32_t i = 0; i < block_size; ++i) {
    value[i + 1] = tokkos::portable_log(std::bit_cast<float>(first + i));
  }
  exact_logarithms(first, table, exact.data());
  std::uint32_t not_monotone = 0;
  std::uint32_t wrong_zero = 0;
  for (std::uint32_t i = 0; i < block_size; ++i) {
    not_monotone += value[i + 1] >= value[i] ? 0 : 1;
    wrong_zero += (exact[i] == 0.0) == (value[i + 1] == 0.0f) ? 0 : 1;
    const double error = std::fabs(static_cast<double>(value[i + 1]) - exact[i]);
    in_ulp[i] = exact[i] == 0.0 ? 0.0 : error / tokkos::test::float_ulp(exact[i]);
  }
  if (first == 0) in_ulp[0] = 0.0;  // x = 0 is no positive number
  findings.note(in_ulp.data(), first, block_size);
  findings.not_monotone += not_monotone;
  findings.wrong_zero += wrong_zero;
  findings.visited += block_size - (first == 0 ? 1 : 0);
}

double grid_error_in_ulp(std::int64_t sum) {
  const auto exact = static_cast<double>(std::log(static_cast<long double>(sum) * 0x1p-44L));
  const auto value = static_cast<double>(tokkos::portable_log_of_grid(sum));
  if (exact == 0.0) return value == 0.0 ? 0.0 : HUGE_VAL;
  return std::fabs(value - exact) / tokkos::test::float_ulp(exact);
}

}  // namespace

TEST_CASE("portable_log is right on every positive float") {
  const auto table = logarithms_of_mantissas();
  const std::uint64_t blocks = std::uint64_t{255} * blocks_per_octave;
  const SweepFindings findings = tokkos::test::sweep_blocks(
      blocks, [&](std::uint64_t block, SweepFindings& found) { check_block(block, table, found); });
  CAPTURE(findings.worst_at);
  CHECK(findings.visited == std::uint64_t{0x7f7fffff});
  CHECK(findings.worst_ulp <= 1.1);
  CHECK(findings.not_monotone == 0);
  CHECK(findings.wrong_zero == 0);
}

TEST_CASE("portable_log has the values of the edges") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(tokkos::portable_log(1.0f) == 0.0f);
  CHECK(tokkos::portable_log(0.0f) == -infinity);
  CHECK(tokkos::portable_log(-0.0f) == -infinity);
  CHECK(tokkos::portable_log(infinity) == infinity);
  CHECK(std::isnan(tokkos::portable_log(-FLT_TRUE_MIN)));
  CHECK(std::isnan(tokkos::portable_log(-infinity)));
  CHECK(std::isnan(tokkos::portable_log(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("portable_log_of_grid is right and monotone around every power of two") {
  CHECK(tokkos::portable_log_of_grid(std::int64_t{1} << 44) == 0.0f);
  double worst = 0.0;
  int not_monotone = 0;
  for (int shift = 0; shift < 63; ++shift) {
    const std::int64_t power = std::int64_t{1} << shift;
    for (std::int64_t sum = std::max<std::int64_t>(1, power - 40); sum < power + 40; ++sum) {
      worst = std::max(worst, grid_error_in_ulp(sum));
      not_monotone +=
          tokkos::portable_log_of_grid(sum) <= tokkos::portable_log_of_grid(sum + 1) ? 0 : 1;
    }
  }
  worst = std::max(worst, grid_error_in_ulp(std::numeric_limits<std::int64_t>::max()));
  CHECK(worst <= 1.1);
  CHECK(not_monotone == 0);
}

TEST_CASE("portable_log_of_grid is right and monotone on random sums of every size") {
  std::mt19937_64 random(11);
  double worst = 0.0;
  int not_monotone = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto sum = static_cast<std::int64_t>((random() >> 1) >> (random() % 63)) | 1;
    worst = std::max(worst, grid_error_in_ulp(sum));
    not_monotone +=
        tokkos::portable_log_of_grid(sum - 1) <= tokkos::portable_log_of_grid(sum) ? 0 : 1;
  }
  CHECK(worst <= 1.1);
  CHECK(not_monotone == 0);
}

TEST_CASE("portable_log_of_grid of nothing is minus infinity") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(tokkos::portable_log_of_grid(0) == -infinity);
  CHECK(tokkos::portable_log_of_grid(-1) == -infinity);
  CHECK(tokkos::portable_log_of_grid(std::numeric_limits<std::int64_t>::min()) == -infinity);
}
