// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "flush_to_zero.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cfenv>
#include <cstdint>

namespace {

/// Added between the accesses to memory: a compiler may move the sum of a function that is inlined
/// behind the next change of the mode.
float one_plus_tiny() {
  volatile float one = 1.0f;
  volatile float tiny = 0x1p-30f;
  volatile float sum = one + tiny;
  return sum;
}

}  // namespace

TEST_CASE("subnormal numbers are computed with, whatever mode the program is in") {
  if (tokkos::test::flush_bits == 0) SKIP("no such mode is known for this processor");
  float flushed = -1.0f;
  float computed = -1.0f;
  float flushed_again = -1.0f;
  {
    const tokkos::test::FlushToZero mode;
    flushed = tokkos::test::doubled_subnormal();
    {
      const tokkos::IeeeArithmetic ieee;
      computed = tokkos::test::doubled_subnormal();
    }
    flushed_again = tokkos::test::doubled_subnormal();
  }
  CHECK(flushed == 0.0f);
  CHECK(computed == 0x1p-139f);
  CHECK(flushed_again == 0.0f);
  CHECK(tokkos::test::doubled_subnormal() == 0x1p-139f);
}

TEST_CASE("rounding is to nearest, whatever mode the program is in") {
  float upward = 0.0f;
  float nearest = 0.0f;
  float upward_again = 0.0f;
  std::fesetround(FE_UPWARD);
  upward = one_plus_tiny();
  {
    const tokkos::IeeeArithmetic ieee;
    nearest = one_plus_tiny();
  }
  upward_again = one_plus_tiny();
  std::fesetround(FE_TONEAREST);
  CHECK(upward > 1.0f);
  CHECK(nearest == 1.0f);
  CHECK(upward_again > 1.0f);
}

TEST_CASE("a program in the default mode finds its mode unchanged") {
  const std::uint64_t before = tokkos::test::floating_point_mode();
  {
    const tokkos::IeeeArithmetic ieee;
    CHECK(tokkos::test::doubled_subnormal() == 0x1p-139f);
  }
  CHECK(tokkos::test::floating_point_mode() == before);
}
