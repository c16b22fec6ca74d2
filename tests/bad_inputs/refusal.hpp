// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bad_inputs/bad_value_count.hpp"
#include "request/error_of.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tokkos::test {

/// What an Error about a bad value has to say, to the letter.
struct Blame {
  std::string field;
  std::optional<std::int64_t> index;
  std::string value;
};

/// Checks that a call with a bad value throws an Error that says so, range included.
template <class Function>
void expect_refusal(const Blame& blame, Function&& call) {
  CAPTURE(blame.field, blame.value);
  count_bad_value();
  const Complaint complaint = error_of(std::forward<Function>(call));
  CHECK(complaint.field == blame.field);
  CHECK(complaint.index == blame.index);
  CHECK(complaint.value == blame.value);
  CHECK(!complaint.expected.empty());
  for (const std::string* part : {&complaint.field, &complaint.value, &complaint.expected}) {
    CHECK(complaint.message.find(*part) != std::string::npos);
  }
}

}  // namespace tokkos::test
