// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A caller's thread that flushes to zero takes a subnormal number for 0; its parameters keep their
// meaning.
#include <tokkos/core/error.hpp>
#include <tokkos/request/generation_config.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

#include "flush_to_zero.hpp"

namespace tokkos::test {

namespace {

constexpr float tiny = 1e-40f;
constexpr float least = 1e-45f;

/// What a config is refused for, or nothing.
std::string complaint_of(const GenerationConfig& config) {
  try {
    validate(config, 100, 0);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<GenerationConfig> legal_configs() {
  return {{.temperature = tiny},
          {.top_p = tiny},
          {.top_p = least},
          {.min_p = least},
          {.presence_penalty = -tiny},
          {.frequency_penalty = least},
          {.repetition_penalty = tiny},
          {.repetition_penalty = least},
          {.logit_bias = {{3, 1e-300}}},
          {.logit_bias = {{3, tiny}, {3, -1e-44}}}};
}

std::vector<GenerationConfig> illegal_configs() {
  return {{.temperature = -tiny}, {.temperature = -least},        {.top_p = -tiny},
          {.min_p = -least},      {.repetition_penalty = -least}, {.repetition_penalty = -0.0f}};
}

/// Everything that is found out about the configs.
std::vector<std::string> findings() {
  std::vector<std::string> all;
  for (const auto& configs : {legal_configs(), illegal_configs()}) {
    for (const GenerationConfig& config : configs) {
      all.push_back(complaint_of(config));
      if (config.has_penalty()) all.back() += " penalizes";
      if (config.has_truncation()) all.back() += " truncates";
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a caller that flushes to zero has the same limits", "[request]") {
  if (flush_bits == 0) SKIP("no such mode is known for this processor");
  const std::vector<std::string> expected = findings();
  std::vector<std::string> found;
  float flushed = -1.0f;
  {
    const FlushToZero mode;
    flushed = doubled_subnormal();
    found = findings();
  }
  CHECK(flushed == 0.0f);
  CHECK(found == expected);
  CHECK(expected ==
        std::vector<std::string>{
            "", " truncates", " truncates", " truncates", " penalizes", " penalizes", " penalizes",
            " penalizes", "", "",
            "generation_configs[0].temperature is -1e-40, expected a finite number >= 0",
            "generation_configs[0].temperature is -1e-45, expected a finite number >= 0",
            "generation_configs[0].top_p is -1e-40, expected a number in (0, 1] truncates",
            "generation_configs[0].min_p is -1e-45, expected a number in [0, 1]",
            "generation_configs[0].repetition_penalty is -1e-45, expected a finite "
            "number > 0 penalizes",
            "generation_configs[0].repetition_penalty is -0, expected a finite number > "
            "0 penalizes"});
}

}  // namespace tokkos::test
