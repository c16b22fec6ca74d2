// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/wide_product.hpp>

#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

__extension__ using uint128 = unsigned __int128;

uint128 value_of(const tokkos::WideProduct& product) {
  return (static_cast<uint128>(product.high) << 64) | product.low;
}

std::vector<std::uint64_t> interesting_factors() {
  std::vector<std::uint64_t> factors{
      0, 1, 2, 3, 0xffffffff, 0x100000000, 0x100000001, UINT64_MAX - 1, UINT64_MAX};
  for (int shift = 2; shift < 64; shift += 5) factors.push_back((std::uint64_t{1} << shift) - 1);
  std::mt19937_64 random(12);
  for (int i = 0; i < 100; ++i) factors.push_back(random() >> (random() % 64));
  return factors;
}

/// floor(u * sum) from the definition of a float: mantissa times a power of two.
std::int64_t share_by_definition(float u, std::int64_t sum) {
  int exponent = 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(u, &exponent), 24));
  const int shift = 24 - exponent;
  const uint128 product = static_cast<uint128>(mantissa) * static_cast<std::uint64_t>(sum);
  return shift >= 128 ? 0 : static_cast<std::int64_t>(product >> shift);
}

/// Whether u * sum is an integer.
bool is_whole(float u, std::int64_t sum) {
  int exponent = 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(u, &exponent), 24));
  uint128 product = static_cast<uint128>(mantissa) * static_cast<std::uint64_t>(sum);
  if (product == 0) return true;
  for (int shift = 24 - exponent; shift > 0; --shift, product >>= 1) {
    if ((product & 1) != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a wide product is exact") {
  int wrong = 0;
  for (const auto a : interesting_factors()) {
    for (const auto b : interesting_factors()) {
      wrong += value_of(tokkos::WideProduct(a, b)) == static_cast<uint128>(a) * b ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("wide products compare as integers") {
  std::mt19937_64 random(13);
  int wrong = 0;
  const auto factors = interesting_factors();
  for (int i = 0; i < 100000; ++i) {
    const auto pick = [&] { return factors[random() % factors.size()]; };
    const std::uint64_t a = pick(), b = pick(), c = pick(), d = pick();
    const bool expected = static_cast<uint128>(a) * b > static_cast<uint128>(c) * d;
    wrong += (tokkos::WideProduct(a, b) > tokkos::WideProduct(c, d)) == expected ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK_FALSE(tokkos::WideProduct(6, 4) > tokkos::WideProduct(3, 8));
}

TEST_CASE("a wide product shifts by any number of bits") {
  int wrong = 0;
  for (const auto a : interesting_factors()) {
    const std::uint64_t b = 0xfedcba9876543211u;
    const uint128 product = static_cast<uint128>(a) * b;
    for (int shift = 0; shift <= 200; ++shift) {
      const uint128 expected = shift < 128 ? product >> shift : 0;
      if ((expected >> 64) != 0) continue;  // does not fit: not asked for
      const auto shifted = tokkos::WideProduct(a, b).shifted_right(shift);
      wrong += shifted == static_cast<std::uint64_t>(expected) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a uniform's share of a sum is rounded down, and up, exactly") {
  std::mt19937_64 random(14);
  std::vector<float> uniforms{0.0f,    FLT_TRUE_MIN, 3 * FLT_TRUE_MIN, 0x1.fffffcp-127f,
                              FLT_MIN, 0x1p-63f,     0x1p-24f,         0.25f,
                              0.5f,    0.75f,        0x1.fffffep-1f};
  for (int i = 0; i < 2000; ++i) {
    uniforms.push_back(static_cast<float>(random() >> 40) * 0x1p-24f);
    uniforms.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random() % 0x3f800000u)));
  }
  std::vector<std::int64_t> sums{
      0, 1, 2, 3, INT64_MAX, INT64_MAX - 1, std::int64_t{1} << 44, std::int64_t{524287} << 44};
  for (int i = 0; i < 50; ++i)
    sums.push_back(static_cast<std::int64_t>((random() >> 1) >> (random() % 63)));
  int wrong = 0;
  int wrong_above = 0;
  int past_the_end = 0;
  for (const float u : uniforms) {
    for (const std::int64_t sum : sums) {
      const std::int64_t share = tokkos::floor_of_share(u, sum);
      wrong += share == share_by_definition(u, sum) ? 0 : 1;
      const std::int64_t above = share + (is_whole(u, sum) ? 0 : 1);
      wrong_above += tokkos::ceil_of_share(u, sum) == above ? 0 : 1;
      past_the_end += share >= sum && sum > 0 ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
  CHECK(wrong_above == 0);
  CHECK(past_the_end == 0);
  CHECK(tokkos::floor_of_share(0.5f, 7) == 3);
  CHECK(tokkos::ceil_of_share(0.5f, 7) == 4);
  CHECK(tokkos::ceil_of_share(0.5f, 8) == 4);
  CHECK(tokkos::floor_of_share(0x1.fffffep-1f, std::int64_t{1} << 24) == (1 << 24) - 1);
}
