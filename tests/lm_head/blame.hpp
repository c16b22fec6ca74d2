// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "request/error_of.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tokkos::test {

/// What an Error has to say, to the letter.
struct Blame {
  std::string field;
  std::optional<std::int64_t> index;
  std::string value;
};

/// Checks that a call throws this.
template <class Call>
void check_refused(const Blame& blame, Call call) {
  const Complaint complaint = error_of(call);
  CAPTURE(blame.field, complaint.message);
  CHECK(complaint.field == blame.field);
  CHECK(complaint.index == blame.index);
  CHECK(complaint.value == blame.value);
  CHECK(!complaint.expected.empty());
}

}  // namespace tokkos::test
