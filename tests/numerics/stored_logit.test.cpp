// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/stored_logit.hpp>

#include "reference/storage_reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>

namespace {

using SixteenBitTypes = std::tuple<tokkos::bfloat16, tokkos::float16>;

template <class Logit>
constexpr tokkos::test::SixteenBitFormat format_of() {
  if constexpr (std::same_as<Logit, tokkos::bfloat16>) return tokkos::test::bfloat16_format;
  return tokkos::test::float16_format;
}

template <class Logit>
std::uint16_t narrow_bits(float x) {
  return tokkos::narrow<Logit>(x).bits;
}

/// Floats whose narrowing differs from the definition's.
template <class Logit>
int wrong_around(float x) {
  constexpr auto format = format_of<Logit>();
  int wrong = 0;
  for (const float candidate : {x, std::nextafter(x, -HUGE_VALF), std::nextafter(x, HUGE_VALF)}) {
    for (const float signed_x : {candidate, -candidate}) {
      wrong += narrow_bits<Logit>(signed_x) == format.narrow(signed_x) ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("every 16-bit pattern widens exactly", "", SixteenBitTypes) {
  constexpr auto format = format_of<TestType>();
  int wrong = 0;
  for (unsigned pattern = 0; pattern <= 0xffff; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double exact = format.widen(bits);
    const float wide = tokkos::widen(TestType{bits});
    if (std::isnan(exact)) {
      wrong += std::isnan(wide) ? 0 : 1;
    } else {
      const bool same = wide == exact && std::signbit(wide) == std::signbit(exact);
      wrong += same ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("every 16-bit number comes back from float32 unchanged", "",
                        SixteenBitTypes) {
  int wrong = 0;
  for (unsigned pattern = 0; pattern <= 0xffff; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const float wide = tokkos::widen(TestType{bits});
    if (std::isnan(wide)) {
      wrong += std::isnan(tokkos::widen(tokkos::narrow<TestType>(wide))) ? 0 : 1;
    } else {
      wrong += narrow_bits<TestType>(wide) == bits ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("narrowing rounds to nearest-even at every boundary", "", SixteenBitTypes) {
  constexpr auto format = format_of<TestType>();
  int wrong = 0;
  for (std::uint16_t bits = 0; bits < format.largest(); ++bits) {
    const double low = format.widen(bits);
    const double high = format.widen(static_cast<std::uint16_t>(bits + 1));
    wrong += wrong_around<TestType>(static_cast<float>(low));
    wrong += wrong_around<TestType>(static_cast<float>(0.5 * (low + high)));
  }
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("narrowing is right on random floats of every size", "", SixteenBitTypes) {
  std::mt19937 random(5);
  int wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(x)) {
      wrong += narrow_bits<TestType>(x) == format_of<TestType>().narrow(x) ? 0 : 1;
    } else {
      wrong += std::isnan(tokkos::widen(tokkos::narrow<TestType>(x))) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("a finite number saturates at the largest finite one", "",
                        SixteenBitTypes) {
  constexpr auto format = format_of<TestType>();
  const auto largest = static_cast<float>(format.widen(format.largest()));
  for (const float x : {largest, std::nextafter(largest, FLT_MAX), 0x1.fffffcp127f, FLT_MAX}) {
    CHECK(narrow_bits<TestType>(x) == format.largest());
    CHECK(narrow_bits<TestType>(-x) == (format.largest() | 0x8000));
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(tokkos::widen(tokkos::narrow<TestType>(infinity)) == infinity);
  CHECK(tokkos::widen(tokkos::narrow<TestType>(-infinity)) == -infinity);
}

TEST_CASE("float32 logits are stored as they are") {
  for (const float x : {0.0f, -0.0f, FLT_TRUE_MIN, -FLT_MAX, 1.5f}) {
    CHECK(std::bit_cast<std::uint32_t>(tokkos::widen(tokkos::narrow<float>(x))) ==
          std::bit_cast<std::uint32_t>(x));
  }
}

TEST_CASE("the mask stores -FLT_MAX in float32 and -infinity in 16 bits") {
  CHECK(tokkos::forbidden_logit<float>() == -FLT_MAX);
  CHECK(tokkos::forbidden_logit<tokkos::bfloat16>().bits == 0xff80);
  CHECK(tokkos::forbidden_logit<tokkos::float16>().bits == 0xfc00);
  static_assert(sizeof(tokkos::bfloat16) == 2 && sizeof(tokkos::float16) == 2);
}
