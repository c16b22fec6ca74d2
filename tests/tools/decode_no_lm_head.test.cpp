// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/decode.hpp"

#include <tokkos/core/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/licence.hpp"

#include <sstream>
#include <string>
#include <vector>

TEST_CASE("a program without Kokkos Kernels says so where a neural model is asked for") {
  std::ostringstream out;
  const auto options =
      tokkos::tools::parse_decode(std::vector<std::string>{tokkos::test::licence, "--lm-head"});
  CHECK_THROWS_MATCHES(tokkos::tools::run_decode(options, out), tokkos::Error,
                       Catch::Matchers::MessageMatches(
                           Catch::Matchers::ContainsSubstring("without Kokkos Kernels")));
  CHECK(out.str().empty());
}
