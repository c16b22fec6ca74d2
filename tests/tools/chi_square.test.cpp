// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The reference that the tests of distributions rest on.
#include "reference/chi_square.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace tokkos::test;

TEST_CASE("quantiles of chi-square are those of tables") {
  CHECK(std::abs(chi_square_quantile(0.05, 1) - 3.841459) < 1e-6);
  CHECK(std::abs(chi_square_quantile(0.001, 10) - 29.588298) < 1e-6);
  CHECK(std::abs(chi_square_quantile(0.05, 100) - 124.342113) < 1e-6);
  // With two degrees it is an exponential variable.
  CHECK(std::abs(chi_square_quantile(1e-6, 2) - 2.0 * std::log(1e6)) < 1e-9);
  CHECK(std::abs(chi_square_above(0.3, 2) - std::exp(-0.15)) < 1e-14);
}

TEST_CASE("a noncentral chi-square variable of one degree is the square of a shifted normal one") {
  const auto above = [](double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); };
  for (const double shift : {0.5, 3.0, 20.0}) {
    for (const double root : {0.1, 2.0, 4.0, 19.0}) {
      const double expected = above(root - shift) + above(root + shift);
      const double found = noncentral_chi_square_above(root * root, 1, shift * shift);
      CHECK(std::abs(found - expected) < 1e-9);
    }
  }
  CHECK(noncentral_chi_square_above(5.0, 3, 0.0) == chi_square_above(5.0, 3));
}

TEST_CASE("rare outcomes are counted together and the statistic is that of the groups") {
  // 100 samples: 60, 32, 5 and 3 expected, of which the last two make a group of 8.
  const OutcomeGroups groups({0.6, 0.05, 0.32, 0.03}, 100);
  CHECK(groups.degrees() == 2);
  CHECK(std::abs(groups.largest_group_of_rare() - 0.08) < 1e-15);
  const std::vector<std::int64_t> counts = {50, 9, 36, 5}, others = {56, 4, 40, 0};
  CHECK(std::abs(groups.against_law(counts) - (100.0 / 60 + 16.0 / 32 + 36.0 / 8)) < 1e-9);
  CHECK(std::abs(groups.against_each_other(counts, others) -
                 (36.0 / 106 + 16.0 / 76 + 100.0 / 18)) < 1e-9);
}

TEST_CASE("power grows from the level to certainty, and rare outcomes take from it") {
  const std::vector<double> even(50, 0.02);
  const OutcomeGroups groups(even, 1e5);
  CHECK(std::abs(groups.power_against_law(0.0, 1e-6) / 1e-6 - 1.0) < 1e-6);
  CHECK(groups.power_against_law(0.01, 1e-6) > 0.05);
  CHECK(groups.power_against_law(0.01, 1e-6) < groups.power_against_law(0.02, 1e-6));
  CHECK(groups.power_against_each_other(0.02, 1e-6) < groups.power_against_law(0.02, 1e-6));
  CHECK(groups.power_against_law(0.05, 1e-6) > 0.999999);
  std::vector<double> with_rare = even;
  with_rare.back() -= 2e-5;
  with_rare.insert(with_rare.end(), 2, 1e-5);
  const OutcomeGroups rare(with_rare, 1e5);
  CHECK(rare.largest_group_of_rare() > 0.019);
  CHECK(rare.power_against_law(0.02, 1e-6) < 1e-5);
}
