// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/edit_hook.hpp>
#include <tokkos/request/generation_config.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cfenv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "request/error_of.hpp"
#include "rounding_mode.hpp"

namespace tokkos::test {
namespace {

using Biases = std::vector<std::pair<TokenId, float>>;

}  // namespace

TEST_CASE("a hook's edits are appended in their order", "[request]") {
  const std::vector<TokenId> prompt = {4};
  Biases biases = {{9, 1.0f}};
  tokkos::RowEdits edits({2, 7, 1}, {prompt, {}, {}}, 10, biases);
  CHECK(edits.request() == 2);
  CHECK(edits.row() == 7);
  CHECK(edits.draft_node() == 1);
  CHECK(edits.context()[0] == 4);
  edits.add_bias(9, 0.5);
  edits.forbid(0);
  edits.add_bias(9, -0.25);
  CHECK(biases == Biases{{9, 1.0f}, {9, 0.5f}, {0, -HUGE_VALF}, {9, -0.25f}});
}

TEST_CASE("a hook's token is one of the vocabulary", "[request]") {
  const TokenId token = GENERATE(-1, 10, std::numeric_limits<TokenId>::max());
  Biases biases;
  tokkos::RowEdits edits({2, 7, 1}, {}, 10, biases);
  for (const bool forbids : {false, true}) {
    const Complaint complaint =
        error_of([&] { forbids ? edits.forbid(token) : edits.add_bias(token, 1.0); });
    CHECK(complaint.names("edit_hook.token_id"));
    CHECK(complaint.index == 7);
    CHECK(complaint.value == to_text(token));
    CHECK(complaint.expected == "a token in [0, 10)");
  }
  CHECK(biases.empty());
}

TEST_CASE("a hook's bias is finite as float32, or minus infinity", "[request]") {
  const double bias =
      GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
               1e39, -1e39, std::numeric_limits<double>::max());
  Biases biases;
  tokkos::RowEdits edits({2, 7, 1}, {}, 10, biases);
  const Complaint complaint = error_of([&] { edits.add_bias(3, bias); });
  CHECK(complaint.names("edit_hook.bias"));
  CHECK(complaint.index == 7);
  CHECK(complaint.value == to_text(bias));
  CHECK(biases.empty());
  CHECK_NOTHROW(edits.add_bias(3, -HUGE_VAL));
}

TEST_CASE("what a bias may be does not depend on the rounding mode", "[request]") {
  const int rounding = GENERATE(FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO);
  const double sign = GENERATE(1.0, -1.0);
  CAPTURE(rounding, sign);
  GenerationConfig config;
  Biases biases;
  tokkos::RowEdits edits({0, 0, -1}, {}, 10, biases);
  for (const double bias : {0x1.fffffe8p127, 0x1.fffffefffffffp127, 3e38, 0.0}) {
    config.logit_bias = {{3, sign * bias}};
    const RoundingMode mode(rounding);
    CHECK_NOTHROW(validate(config, 5, 0));
    CHECK_NOTHROW(edits.add_bias(3, config.logit_bias[0].second));
  }
  for (const double bias : {0x1.ffffffp127, 1e39, 1e308}) {
    config.logit_bias = {{3, sign * bias}};
    const RoundingMode mode(rounding);
    CHECK_THROWS_AS(validate(config, 5, 0), Error);
    CHECK_THROWS_AS(edits.add_bias(3, config.logit_bias[0].second), Error);
  }
}

}  // namespace tokkos::test
