// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cfloat>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

namespace {

template <class T>
std::optional<tokkos::Error> error_of_require(bool ok, std::optional<std::int64_t> index, T value) {
  try {
    tokkos::require(ok, "token_ids", index, value, "in [0, 7)");
  } catch (const tokkos::Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("an error names field, index, value and what was expected") {
  const tokkos::Error error("token_ids", 3, "-1", "in [0, 7)");
  CHECK(error.field() == "token_ids");
  CHECK(error.index() == std::optional<std::int64_t>(3));
  CHECK(error.value() == "-1");
  CHECK(error.expected() == "in [0, 7)");
  CHECK(std::string(error.what()) == "token_ids[3] is -1, expected in [0, 7)");
}

TEST_CASE("an error about something that is no array has no index") {
  const tokkos::Error error("vocab_size", std::nullopt, "0", "at least 1");
  CHECK_FALSE(error.index().has_value());
  CHECK(std::string(error.what()) == "vocab_size is 0, expected at least 1");
}

TEST_CASE("an error names the request that its field is a part of") {
  const auto request_of = [](const char* field) {
    return tokkos::Error(field, 5, "0", "1").request();
  };
  CHECK(request_of("generation_configs[2].top_p") == 2);
  CHECK(request_of("sequence_states[0].history.prompt") == 0);
  CHECK(request_of("draft_trees[13].parents") == 13);
  CHECK(request_of("draft_token_indices[4]") == 4);
  CHECK(request_of("requests[10000000000].config") == 10000000000);
  for (const char* field : {"generation_configs", "generation_configs.size", "tokens[2]", "", "[1]",
                            "requests[", "requests[x]", "more_requests[1]"}) {
    CAPTURE(field);
    CHECK_FALSE(request_of(field).has_value());
  }
}

TEST_CASE("an error is caught as a std::runtime_error") {
  CHECK_THROWS_AS(throw tokkos::Error("a", std::nullopt, "b", "c"), std::runtime_error);
}

TEST_CASE("require throws exactly when the condition is false") {
  CHECK_FALSE(error_of_require(true, 2, std::int32_t{5}).has_value());
  const auto error = error_of_require(false, 2, std::int32_t{-5});
  REQUIRE(error.has_value());
  CHECK(error->field() == "token_ids");
  CHECK(error->index() == std::optional<std::int64_t>(2));
  CHECK(error->value() == "-5");
  CHECK(error->expected() == "in [0, 7)");
}

TEST_CASE("require shows values of every number type") {
  CHECK(error_of_require(false, std::nullopt, 0.5f)->value() == "0.5");
  CHECK(error_of_require(false, std::nullopt, -1.25)->value() == "-1.25");
  CHECK(error_of_require(false, std::nullopt, std::int64_t{1} << 40)->value() == "1099511627776");
  const auto nan = error_of_require(false, std::nullopt, std::numeric_limits<float>::quiet_NaN());
  CHECK(nan->value().find("nan") != std::string::npos);
  const auto infinite =
      error_of_require(false, std::nullopt, -std::numeric_limits<float>::infinity());
  CHECK(infinite->value() == "-inf");
}

TEST_CASE("text of a float is short and reads back to the same float") {
  CHECK(tokkos::to_text(0.1f) == "0.1");
  CHECK(tokkos::to_text(1e-05f) == "1e-05");
  CHECK(tokkos::to_text(std::int64_t{INT64_MIN}) == "-9223372036854775808");
  for (const float x : {FLT_MAX, -FLT_MAX, FLT_MIN, FLT_TRUE_MIN, 1.1e-5f, 0x1.fffffep-1f}) {
    CHECK(std::strtof(tokkos::to_text(x).c_str(), nullptr) == x);
  }
  std::mt19937_64 random(7);
  int different = 0;
  for (int i = 0; i < 1000; ++i) {
    const double x = static_cast<double>(random()) * 0x1p-70 - 0.05;
    different += std::strtod(tokkos::to_text(x).c_str(), nullptr) == x ? 0 : 1;
  }
  CHECK(different == 0);
}
