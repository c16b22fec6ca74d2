// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace tokkos::test {

/// The message of the Error that `call` throws.
template <class Call>
std::string error_message(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("no tokkos::Error was thrown");
  return "";
}

}  // namespace tokkos::test
