// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>

#include <catch2/catch_test_macros.hpp>

#include <string>

#include "request/error_of.hpp"

namespace tokkos::test {

/// What the last error of this thread says, after a call that failed; fails the test if it worked.
inline Complaint complaint_of(tokkos_status status) {
  REQUIRE(status != TOKKOS_OK);
  tokkos_error error = tokkos_error_default();
  CHECK(tokkos_last_error_parts(&error) == TOKKOS_OK);
  CHECK(error.status == status);
  CHECK(std::string(tokkos_last_error()) == error.message);
  Complaint said{error.field, {}, error.value, error.expected, error.message};
  if (error.index >= 0) said.index = error.index;
  return said;
}

}  // namespace tokkos::test
