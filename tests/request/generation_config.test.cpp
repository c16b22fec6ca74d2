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
    CHECK(complaint.field == std::string("generation_configs[7].") + bad.name);
    CHECK(!complaint.index.has_value());
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

TEST_CASE("a penalty policy is one of the four, and a window is -1 or more", "[request]") {
  GenerationConfig config;
  for (const PenaltyPolicy policy : penalty_policies) {
    config.penalty_policy = policy;
    for (const std::int32_t window : {-1, 0, 1, 2147483647}) {
      config.penalty_window = window;
      CHECK_NOTHROW(validate(config, vocabulary, 3));
    }
  }
  for (const std::int32_t number : {-1, 4, 2147483647}) {
    config.penalty_policy = PenaltyPolicy{number};
    const Complaint complaint = error_of([&] { validate(config, vocabulary, 3); });
    CHECK(complaint.field == "generation_configs[3].penalty_policy");
    CHECK(complaint.value == to_text(number));
    CHECK(complaint.expected.find("hugging_face") != std::string::npos);
  }
  config.penalty_policy = PenaltyPolicy::seed;
  for (const std::int32_t window : {-2, -2147483647}) {
    config.penalty_window = window;
    const Complaint complaint = error_of([&] { validate(config, vocabulary, 3); });
    CHECK(complaint.field == "generation_configs[3].penalty_window");
    CHECK(complaint.value == to_text(window));
  }
}

TEST_CASE("lists of tokens hold tokens of the vocabulary", "[request]") {
  using List = std::vector<TokenId> GenerationConfig::*;
  const std::pair<const char*, List> list =
      GENERATE(std::pair{"allowed_token_ids", &GenerationConfig::allowed_token_ids},
               std::pair{"banned_token_ids", &GenerationConfig::banned_token_ids},
               std::pair{"end_token_ids", &GenerationConfig::end_token_ids});
  const TokenId token = GENERATE(-1, 100, std::numeric_limits<TokenId>::max());
  GenerationConfig config;
  config.*list.second = {0, 99, 99};
  CHECK_NOTHROW(validate(config, vocabulary, 4));
  (config.*list.second).push_back(token);
  const Complaint complaint = error_of([&] { validate(config, vocabulary, 4); });
  CHECK(complaint.field == std::string("generation_configs[4].") + list.first);
  CHECK(complaint.index == 3);
  CHECK(complaint.value == to_text(token));
  CHECK(complaint.expected == "a token in [0, 100)");
}

TEST_CASE("bad words are sequences of tokens of the vocabulary, none of them empty", "[request]") {
  GenerationConfig config;
  config.bad_words = {{1}, {2, 99, 0}};
  CHECK_NOTHROW(validate(config, vocabulary, 4));
  config.bad_words.push_back({5, 100});
  const Complaint outside = error_of([&] { validate(config, vocabulary, 4); });
  CHECK(outside.field == "generation_configs[4].bad_words[2]");
  CHECK(outside.index == 1);
  CHECK(outside.value == "100");
  config.bad_words[2].clear();
  const Complaint empty = error_of([&] { validate(config, vocabulary, 4); });
  CHECK(empty.field == "generation_configs[4].bad_words[2].size");
  CHECK(empty.value == "0");
}

TEST_CASE("lengths of outputs and n-grams are not negative", "[request]") {
  using Number = std::int32_t GenerationConfig::*;
  const std::pair<const char*, Number> number =
      GENERATE(std::pair{"min_tokens", &GenerationConfig::min_tokens},
               std::pair{"no_repeat_ngram_size", &GenerationConfig::no_repeat_ngram_size});
  GenerationConfig config;
  config.*number.second = 2147483647;
  CHECK_NOTHROW(validate(config, vocabulary, 4));
  config.*number.second = -1;
  const Complaint complaint = error_of([&] { validate(config, vocabulary, 4); });
  CHECK(complaint.field == std::string("generation_configs[4].") + number.first);
  CHECK(complaint.message ==
        "generation_configs[4]." + std::string(number.first) + " is -1, expected a number >= 0");
  CHECK(complaint.value == "-1");
}

TEST_CASE("Hugging Face's policy knows the repetition penalty alone", "[request]") {
  GenerationConfig config{.penalty_policy = PenaltyPolicy::hugging_face,
                          .presence_penalty = 1.0f,
                          .frequency_penalty = 1.0f};
  CHECK(!config.has_penalty());
  config.repetition_penalty = 1.1f;
  CHECK(config.has_penalty());
}

}  // namespace tokkos::test
