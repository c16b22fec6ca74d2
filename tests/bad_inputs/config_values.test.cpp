// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What a stranger's parameters may hold: every number out of range is refused by every call.
#include <tokkos/core/error.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "backends.hpp"
#include "bad_inputs/step_bench.hpp"

namespace tokkos::test {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr TokenId last_id = std::numeric_limits<TokenId>::max();
constexpr TokenId first_id = std::numeric_limits<TokenId>::min();

std::string of_request(int request, const std::string& name) {
  return "generation_configs[" + std::to_string(request) + "]." + name;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("bias ids outside the vocabulary are refused", "[row-01]",
                        ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const TokenId token : {-1, 100, 101, last_id, first_id}) {
    bench.refuses({of_request(0, "logit_bias.token_id"), 0, to_text(token)},
                  [=](OwnedStep& s) { s.configs[0].logit_bias[0].first = token; });
    bench.refuses({of_request(1, "logit_bias.token_id"), 2, to_text(token)}, [=](OwnedStep& s) {
      s.configs[1].logit_bias = {{1, 1.0}, {99, -1.0}, {token, 0.0}};
    });
  }
}

TEMPLATE_LIST_TEST_CASE("a bias that is NaN is refused, whatever its sign and payload", "[row-02]",
                        ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const double bias : {std::nan(""), -std::nan(""), std::nan("77")}) {
    bench.refuses({of_request(2, "logit_bias"), 1, to_text(bias)}, [=](OwnedStep& s) {
      s.configs[2].logit_bias = {{0, 1.0}, {1, bias}};
    });
  }
}

TEMPLATE_LIST_TEST_CASE("a bias of plus infinity is refused in every place", "[row-03]",
                        ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const std::size_t place : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
    bench.refuses(
        {of_request(1, "logit_bias"), static_cast<std::int64_t>(place), to_text(double{infinity})},
        [=](OwnedStep& s) {
          s.configs[1].logit_bias.assign(6, {3, -double{infinity}});
          s.configs[1].logit_bias[place].second = infinity;
        });
  }
}

TEMPLATE_LIST_TEST_CASE("a bias that float32 cannot hold is refused", "[row-05]", ExecutionSpaces) {
  StepBench<TestType> bench;
  bench.rounding = GENERATE(FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO);
  CAPTURE(bench.rounding);
  // The first is the smallest double that rounds up to infinity.
  for (const double bias : {0x1.ffffffp127, 1e39, -1e39, 1e308, -0x1.ffffffp127}) {
    bench.refuses({of_request(0, "logit_bias"), 1, to_text(bias)},
                  [=](OwnedStep& s) { s.configs[0].logit_bias[1].second = bias; });
  }
}

TEMPLATE_LIST_TEST_CASE("presence and frequency penalties are finite numbers", "[row-13]",
                        ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const float p : {not_a_number, -not_a_number, infinity, -infinity}) {
    bench.refuses({of_request(1, "presence_penalty"), {}, to_text(p)},
                  [=](OwnedStep& s) { s.configs[1].presence_penalty = p; });
    bench.refuses({of_request(2, "frequency_penalty"), {}, to_text(p)},
                  [=](OwnedStep& s) { s.configs[2].frequency_penalty = p; });
  }
}

TEMPLATE_LIST_TEST_CASE("a repetition penalty is a finite number above 0", "[row-14]",
                        ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const float r : {0.0f, -0.0f, -1.0f, -0x1p-149f, not_a_number, infinity, -infinity}) {
    bench.refuses({of_request(1, "repetition_penalty"), {}, to_text(r)},
                  [=](OwnedStep& s) { s.configs[1].repetition_penalty = r; });
  }
}

TEMPLATE_LIST_TEST_CASE("a temperature is a finite number from 0 on", "[row-28]", ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const float t : {not_a_number, -1.0f, -0x1p-149f, infinity, -infinity}) {
    for (const int request : {0, 2}) {
      bench.refuses({of_request(request, "temperature"), {}, to_text(t)}, [=](OwnedStep& s) {
        s.configs[static_cast<std::size_t>(request)].temperature = t;
      });
    }
  }
}

TEMPLATE_LIST_TEST_CASE("top_p lies above 0 and ends at 1", "[row-32]", ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const float p : {not_a_number, 0.0f, -0.0f, -0.5f, 0x1.000002p0f, 2.0f, infinity}) {
    bench.refuses({of_request(0, "top_p"), {}, to_text(p)},
                  [=](OwnedStep& s) { s.configs[0].top_p = p; });
  }
}

TEMPLATE_LIST_TEST_CASE("top_k is not negative", "[row-34]", ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const std::int32_t k : {-1, -2, first_id}) {
    bench.refuses({of_request(2, "top_k"), {}, to_text(k)},
                  [=](OwnedStep& s) { s.configs[2].top_k = k; });
  }
}

TEMPLATE_LIST_TEST_CASE("min_p lies in 0 to 1", "[row-35]", ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const float p : {not_a_number, -0x1p-149f, -1.0f, 0x1.000002p0f, infinity}) {
    bench.refuses({of_request(1, "min_p"), {}, to_text(p)},
                  [=](OwnedStep& s) { s.configs[1].min_p = p; });
  }
}

TEMPLATE_LIST_TEST_CASE("history tokens outside the vocabulary are refused", "[row-09]",
                        ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const TokenId token : {TokenId{100}, TokenId{101}, last_id}) {
    bench.refuses({"sequence_states[1].history.generated", 3, to_text(token)},
                  [=](OwnedStep& s) { s.histories[1].commit(token); });
    bench.refuses({"sequence_states[2].history.prompt", 1, to_text(token)}, [=](OwnedStep& s) {
      s.histories[2] = TokenHistory({4, token, 5});
    });
  }
  // A negative one, such as a placeholder of an image, does not get into a history at all.
  for (const TokenId token : {-1, -200, first_id}) {
    TokenHistory history({1});
    history.commit(2);
    expect_refusal({"token", 1, to_text(token)}, [&] { history.commit(token); });
    expect_refusal({"prompt", 2, to_text(token)}, [&] { TokenHistory({3, 4, token}); });
    CHECK(history.generated().size() == 1);
    CHECK(history.count(2) == 1);
    history.commit(3);
    CHECK(history.generated().back() == 3);
  }
  bench.works();
}

}  // namespace tokkos::test
