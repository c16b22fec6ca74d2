// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/parameter_ranges.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>

#include "bad_inputs/refusal.hpp"

namespace tokkos::test {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST_CASE("the ranges of web APIs hold where they are asked for, and only there", "[row-16]") {
  const float not_a_number = std::nanf("");
  const auto refuses = [](const Blame& blame, const GenerationConfig& config, bool is_legal) {
    expect_refusal(blame, [&] { validate(config, ParameterRanges{}, 3); });
    if (is_legal) CHECK_NOTHROW(validate(config, 100, 3));
  };
  for (const float t : {2.0000002f, 100.0f, infinity, -1.0f, not_a_number}) {
    refuses({"generation_configs[3].temperature", {}, to_text(t)}, {.temperature = t},
            t > 0 && t < infinity);
  }
  for (const float p : {2.0000002f, -2.0000002f, 1e30f, -infinity, not_a_number}) {
    const bool is_legal = std::isfinite(p);
    refuses({"generation_configs[3].presence_penalty", {}, to_text(p)}, {.presence_penalty = p},
            is_legal);
    refuses({"generation_configs[3].frequency_penalty", {}, to_text(p)}, {.frequency_penalty = p},
            is_legal);
  }
  for (const double b : {100.00001, -100.00001, 1e30, -double{infinity}, std::nan("")}) {
    refuses({"generation_configs[3].logit_bias", 1, to_text(b)}, {.logit_bias = {{1, 1.0}, {2, b}}},
            b == b);
  }
}

TEST_CASE("the ends of the ranges of web APIs are legal, and a server may have its own",
          "[row-16]") {
  const ParameterRanges ranges;
  CHECK_NOTHROW(
      validate({.temperature = 2.0f, .logit_bias = {{1, 100.0}, {2, -100.0}}}, ranges, 0));
  CHECK_NOTHROW(validate({.presence_penalty = 2.0f, .frequency_penalty = -2.0f}, ranges, 0));
  CHECK_NOTHROW(validate({.temperature = 0.0f, .presence_penalty = -2.0f}, ranges, 0));
  const ParameterRanges own{.max_temperature = 1.0f, .max_penalty = 0.5f, .max_bias = 5};
  expect_refusal({"generation_configs[0].temperature", {}, "1.5"},
                 [&] { validate({.temperature = 1.5f}, own, 0); });
  expect_refusal({"generation_configs[0].presence_penalty", {}, "-1"},
                 [&] { validate({.presence_penalty = -1.0f}, own, 0); });
  expect_refusal({"generation_configs[0].logit_bias", 0, "6"}, [&] {
    validate({.logit_bias = {{1, 6.0}}}, own, 0);
  });
}

TEST_CASE("a maximum that is no number from 0 on is refused, whatever is asked", "[row-16]") {
  const float not_a_number = std::nanf("");
  for (const float bad : {-1.0f, -infinity, not_a_number, -not_a_number}) {
    expect_refusal({"ranges.max_temperature", {}, to_text(bad)},
                   [&] { validate(GenerationConfig{}, {.max_temperature = bad}, 0); });
    expect_refusal({"ranges.max_penalty", {}, to_text(bad)},
                   [&] { validate(GenerationConfig{}, {.max_penalty = bad}, 0); });
    expect_refusal({"ranges.max_bias", {}, to_text(double{bad})},
                   [&] { validate(GenerationConfig{}, {.max_bias = double{bad}}, 0); });
  }
  const ParameterRanges none{
      .max_temperature = infinity, .max_penalty = infinity, .max_bias = infinity};
  CHECK_NOTHROW(validate({.temperature = 100.0f, .presence_penalty = -1e30f}, none, 0));
}

}  // namespace tokkos::test
