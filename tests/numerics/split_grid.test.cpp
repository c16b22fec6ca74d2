// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/split_grid.hpp>

#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

constexpr std::uint32_t bits_of_one = 0x3f800000;

/// x * 2^44 to the nearest integer, ties to even, by comparing the two neighbours.
std::int64_t on_grid(float x) {
  const long double scaled = std::ldexp(static_cast<long double>(x), 44);
  const auto below = static_cast<std::int64_t>(std::floor(scaled));
  const long double rest = scaled - static_cast<long double>(below);
  if (rest > 0.5L) return below + 1;
  if (rest < 0.5L) return below;
  return below + (below & 1);
}

std::int64_t by_parts(const std::vector<float>& numbers) {
  tokkos::GridParts sums;
  for (const float x : numbers) {
    const auto parts = tokkos::GridParts::of(x);
    sums.coarse += parts.coarse;
    sums.fine += parts.fine;
  }
  return tokkos::sum_of_parts(sums, static_cast<std::uint32_t>(numbers.size()));
}

/// How many of the floats of [0, 1] whose bits are `step` apart go wrong.
std::int64_t wrong_floats(std::uint32_t step) {
  std::int64_t wrong = 0;
  for (std::uint32_t bits = 0; bits <= bits_of_one; bits += step) {
    const auto x = std::bit_cast<float>(bits);
    wrong += tokkos::sum_of_parts(tokkos::GridParts::of(x), 1) == on_grid(x) ? 0 : 1;
  }
  return wrong;
}

}  // namespace

TEST_CASE("a number in two parts is the one on the grid, for floats of every size") {
  CHECK(wrong_floats(1009) == 0);
  // Near powers of 2 and odd multiples of half a unit of either part, where rounding turns.
  std::int64_t wrong = 0;
  for (int exponent = -50; exponent <= 0; ++exponent) {
    for (int odd = 1; odd <= 15; odd += 2) {
      const auto bits = std::bit_cast<std::uint32_t>(std::ldexp(static_cast<float>(odd), exponent));
      for (std::uint32_t near = bits - 64; near <= bits + 64; ++near) {
        if (near > bits_of_one) continue;
        const auto x = std::bit_cast<float>(near);
        wrong += by_parts({x}) == on_grid(x) ? 0 : 1;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a number in two parts is the one on the grid, for every float of [0, 1]", "[slow]") {
  CHECK(wrong_floats(1) == 0);
}

TEST_CASE("256 numbers in two parts sum to the sum on the grid, the largest ones too") {
  std::mt19937_64 random(5);
  // What leaves most in either part, and whatever comes.
  const float most_fine = 0x1p-22f, below_one = 1.0f - 0x1p-24f;
  std::vector<std::vector<float>> cases{
      std::vector<float>(256, 1.0f),      std::vector<float>(256, below_one),
      std::vector<float>(256, most_fine), std::vector<float>(256, 3 * most_fine),
      std::vector<float>(256, 0.0f),      {}};
  for (int i = 0; i < 2000; ++i) {
    std::vector<float> numbers(random() % 257);
    for (float& x : numbers) {
      x = std::bit_cast<float>(static_cast<std::uint32_t>(random() % (bits_of_one + 1)));
      if (i % 2 == 0) x = static_cast<float>(random() >> 40) * 0x1p-24f;
    }
    cases.push_back(numbers);
  }
  for (const auto& numbers : cases) {
    std::int64_t expected = 0;
    for (const float x : numbers) expected += on_grid(x);
    REQUIRE(by_parts(numbers) == expected);
  }
}
