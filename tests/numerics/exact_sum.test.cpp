// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/exact_sum.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

/// Nearest integer by comparing the two neighbours, ties to even.
std::int64_t nearest_even(long double x) {
  const auto below = static_cast<std::int64_t>(std::floor(x));
  const long double rest = x - static_cast<long double>(below);
  if (rest > 0.5L) return below + 1;
  if (rest < 0.5L) return below;
  return below + (below & 1);
}

float random_float_below_128(std::mt19937_64& random) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(random() % 0x43000000u));
}

}  // namespace

TEST_CASE("rounding to an integer takes ties to even") {
  for (const std::int64_t whole :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{4095},
        (std::int64_t{1} << 51) - 2, (std::int64_t{1} << 52) - 2, (std::int64_t{1} << 52) - 1}) {
    const auto x = static_cast<double>(whole);
    CHECK(tokkos::round_to_integer(x) == whole);
    CHECK(tokkos::round_to_integer(x + 0.5) == whole + whole % 2);
  }
  CHECK(tokkos::round_to_integer(0.49999999999999994) == 0);
  CHECK(tokkos::round_to_integer(0.50000000000000011) == 1);
  CHECK(tokkos::round_to_integer(2.4999999999999996) == 2);
  CHECK(tokkos::round_to_integer(DBL_TRUE_MIN) == 0);
}

TEST_CASE("rounding to an integer is exact up to the end of its range") {
  for (int shift = 51; shift < 63; ++shift) {
    const double power = std::ldexp(1.0, shift);
    for (const double x : {std::nextafter(power, 0.0), power, std::nextafter(power, HUGE_VAL)}) {
      CHECK(tokkos::round_to_integer(x) == nearest_even(x));
    }
  }
  CHECK(tokkos::round_to_integer(0x1.fffffffffffffp62) == 0x7ffffffffffffc00);
}

TEST_CASE("rounding to an integer is right on random numbers of every size") {
  std::mt19937_64 random(3);
  int wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x =
        std::ldexp(static_cast<double>(random() >> 11), -static_cast<int>(random() % 60)) *
        static_cast<double>(1 + random() % 1000);
    if (x < 0x1p63) wrong += tokkos::round_to_integer(x) == nearest_even(x) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("floats are rounded to the grid of 2^-44, ties to even") {
  CHECK(tokkos::grid_unit == 0x1p-44);
  CHECK(tokkos::grid_one == std::int64_t{1} << 44);
  CHECK(tokkos::to_grid(0.0f) == 0);
  CHECK(tokkos::to_grid(1.0f) == tokkos::grid_one);
  CHECK(tokkos::to_grid(0x1p-44f) == 1);
  CHECK(tokkos::to_grid(0x1p-45f) == 0);
  CHECK(tokkos::to_grid(0x1.000002p-45f) == 1);
  CHECK(tokkos::to_grid(0x1.8p-44f) == 2);
  CHECK(tokkos::to_grid(0x1.4p-43f) == 2);
  CHECK(tokkos::to_grid(0x1.cp-43f) == 4);
  CHECK(tokkos::to_grid(FLT_TRUE_MIN) == 0);
  CHECK(tokkos::to_grid(4.0f) == std::int64_t{1} << 46);
  CHECK(tokkos::to_grid(0x1.fffffep6f) == (std::int64_t{1} << 51) - (std::int64_t{1} << 27));
}

TEST_CASE("every float below 128 reaches the grid exactly rounded") {
  std::mt19937_64 random(4);
  int wrong = 0;
  for (int i = 0; i < 400000; ++i) {
    const float x = random_float_below_128(random);
    wrong += tokkos::to_grid(x) == nearest_even(static_cast<long double>(x) * 0x1p44L) ? 0 : 1;
  }
  // Near the grid's own unit, where floats fall between its points.
  for (std::uint32_t bits = 0x28000000u; bits < 0x2c000000u; bits += 97) {
    const float x = std::bit_cast<float>(bits);
    wrong += tokkos::to_grid(x) == nearest_even(static_cast<long double>(x) * 0x1p44L) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a sum on the grid becomes the nearest float") {
  std::mt19937_64 random(6);
  int wrong = 0;
  const auto check = [&](std::int64_t sum) {
    const float value = tokkos::from_grid(sum);
    const long double exact = static_cast<long double>(sum) * 0x1p-44L;
    const long double error = std::fabs(static_cast<long double>(value) - exact);
    for (const float other : {std::nextafter(value, 0.0f), std::nextafter(value, HUGE_VALF)}) {
      const long double further = std::fabs(static_cast<long double>(other) - exact);
      const bool odd = (std::bit_cast<std::uint32_t>(value) & 1) != 0;
      wrong += further < error || (further == error && odd) ? 1 : 0;
    }
  };
  for (int i = 0; i < 100000; ++i)
    check(static_cast<std::int64_t>((random() >> 1) >> (random() % 63)) | 1);
  for (int shift = 24; shift < 62; ++shift) {
    const std::int64_t power = std::int64_t{1} << shift;
    const std::int64_t half = power >> 24;  // half a unit in the last place above the power
    for (const std::int64_t near : {half - 1, half, half + 1, 3 * half}) check(power + near);
  }
  check(std::numeric_limits<std::int64_t>::max());
  CHECK(wrong == 0);
  CHECK(tokkos::from_grid(tokkos::grid_one) == 1.0f);
}

TEST_CASE("a sum on the grid does not depend on the order of its terms") {
  std::mt19937_64 random(8);
  std::vector<float> terms(4096);
  for (auto& term : terms) term = random_float_below_128(random);
  const auto sum = [&] {
    std::int64_t total = 0;
    for (const float term : terms) total += tokkos::to_grid(term);
    return total;
  };
  const std::int64_t expected = sum();
  for (int i = 0; i < 10; ++i) {
    std::shuffle(terms.begin(), terms.end(), random);
    CHECK(sum() == expected);
  }
}
