// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/types.hpp>

#include <tokkos/core/version.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cfloat>
#include <string>

TEST_CASE("the limits are those of the contract") {
  CHECK(tokkos::greedy_temperature == 1e-5f);
  CHECK(tokkos::masked_logit == -FLT_MAX);
  CHECK(tokkos::max_active_vocabulary == 524287);
  CHECK(tokkos::max_vocabulary == 2147483647);
}

TEST_CASE("the version is three numbers, the revision is known or says so") {
  const std::string version = tokkos::version();
  int dots = 0;
  for (const char c : version) {
    dots += c == '.' ? 1 : 0;
    CHECK((c == '.' || (c >= '0' && c <= '9')));
  }
  CHECK(dots == 2);
  CHECK(version == tokkos::version_string);
  CHECK(version == std::to_string(TOKKOS_VERSION_MAJOR) + '.' +
                       std::to_string(TOKKOS_VERSION_MINOR) + '.' +
                       std::to_string(TOKKOS_VERSION_PATCH));
  CHECK_FALSE(std::string(tokkos::revision()).empty());
}
