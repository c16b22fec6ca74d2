// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tokkos::test {

/// What an Error said.
struct Complaint {
  std::string field;
  std::optional<std::int64_t> index;
  std::string value;
  std::string expected;
  std::string message;

  bool names(const std::string& text) const { return field.find(text) != std::string::npos; }
};

/// The Error that `function` throws; fails the test if there is none.
template <class Function>
Complaint error_of(Function&& function) {
  try {
    std::forward<Function>(function)();
  } catch (const Error& error) {
    return {error.field(), error.index(), error.value(), error.expected(), error.what()};
  }
  FAIL("nothing was thrown");
  return {};
}

}  // namespace tokkos::test
