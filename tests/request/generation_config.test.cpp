// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/generation_config.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cfloat>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t vocabulary = 100;

struct BadField {
  const char* name;
  float GenerationConfig::*field;
  std::vector<float> values;
};

GenerationConfig with_biases(std::vector<std::pair<TokenId, double>> biases) {
  GenerationConfig config;
  config.logit_bias = std::move(biases);
  return config;
}

}  // namespace

TEST_CASE("a generation config rejects numbers out of range and names them", "[request]") {
  const BadField bad = GENERATE(BadField{"temperature",
                                         &GenerationConfig::temperature,
                                         {quiet_nan, -1.0f, -FLT_MIN, infinity, -infinity}},
                                BadField{"presence_penalty",
                                         &GenerationConfig::presence_penalty,
                                         {quiet_nan, infinity, -infinity}},
                                BadField{"frequency_penalty",
                                         &GenerationConfig::frequency_penalty,
                                         {quiet_nan, infinity, -infinity}},
                                BadField{"repetition_penalty",
                                         &GenerationConfig::repetition_penalty,
                                         {quiet_nan, 0.0f, -0.0f, -1.5f, infinity, -infinity}});
  for (const float value : bad.values) {
    CAPTURE(bad.name, value);
    GenerationConfig config;
    config.*bad.field = value;
    const Complaint complaint = error_of([&] { validate(config, vocabulary, 7); });
    CHECK(complaint.names(bad.name));
    CHECK(complaint.index == 7);
    CHECK(complaint.value == to_text(value));
    CHECK(!complaint.expected.empty());
    CHECK(complaint.message.find(bad.name) != std::string::npos);
    CHECK(complaint.message.find(to_text(value)) != std::string::npos);
  }
}

TEST_CASE("a generation config accepts every number in range", "[request]") {
  const float extreme = GENERATE(0.0f, -2.0f, 2.0f, 1e30f, -1e30f, FLT_MAX, -FLT_MAX);
  GenerationConfig config;
  config.presence_penalty = extreme;
  config.frequency_penalty = extreme;
  CHECK_NOTHROW(validate(config, vocabulary, 0));
  for (const float temperature : {0.0f, -0.0f, 1e-6f, 1e-5f, 1.1e-5f, 1000.0f, FLT_MAX}) {
    config.temperature = temperature;
    CHECK_NOTHROW(validate(config, vocabulary, 0));
  }
  for (const float repetition : {FLT_MIN, 0.5f, 1.0f, 2.0f, FLT_MAX}) {
    config.repetition_penalty = repetition;
    CHECK_NOTHROW(validate(config, vocabulary, 0));
  }
}

TEST_CASE("a logit bias names a token of the vocabulary", "[request]") {
  const TokenId token = GENERATE(-1, -100, 100, 101, std::numeric_limits<TokenId>::max(),
                                 std::numeric_limits<TokenId>::min());
  CAPTURE(token);
  const GenerationConfig config = with_biases({{0, 1.0}, {99, 1.0}, {token, 1.0}});
  const Complaint complaint = error_of([&] { validate(config, vocabulary, 4); });
  CHECK(complaint.names("logit_bias"));
  CHECK(complaint.names("4"));
  CHECK(complaint.index == 2);
  CHECK(complaint.value == to_text(token));
}

TEST_CASE("a logit bias is finite as float32, or minus infinity", "[request]") {
  const double bias =
      GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
               1e39, -1e39, 3.5e38, -3.5e38, std::numeric_limits<double>::max());
  CAPTURE(bias);
  const GenerationConfig config = with_biases({{0, 1.0}, {1, bias}});
  const Complaint complaint = error_of([&] { validate(config, vocabulary, 4); });
  CHECK(complaint.names("logit_bias"));
  CHECK(complaint.names("4"));
  CHECK(complaint.index == 1);
  CHECK(complaint.value == to_text(bias));
}

TEST_CASE("biases in range, twice on one token and minus infinity are legal", "[request]") {
  const double lowest = -std::numeric_limits<double>::infinity();
  CHECK_NOTHROW(validate(with_biases({{5, lowest}, {5, 1.0}, {5, -1.0}, {0, 0.0}, {99, 100.0}}),
                         vocabulary, 0));
  CHECK_NOTHROW(
      validate(with_biases({{0, FLT_MAX}, {1, -double{FLT_MAX}}, {2, 1e-300}}), vocabulary, 0));
}

TEST_CASE("a generation config knows whether it penalizes", "[request]") {
  GenerationConfig config;
  CHECK(!config.has_penalty());
  config.repetition_penalty = 1.1f;
  CHECK(config.has_penalty());
  config = {};
  config.presence_penalty = -0.5f;
  CHECK(config.has_penalty());
  config = {};
  config.frequency_penalty = 0.5f;
  CHECK(config.has_penalty());
}

}  // namespace tokkos::test
