// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Values that look bad and are legal: what comes out is what a plain computation in double gives.
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "kernels/guarded.hpp"
#include "request/owned_step.hpp"

namespace tokkos::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Outcome {
  std::vector<float> logits, probabilities, truncated;
  std::vector<TokenId> tokens;
  std::vector<std::int32_t> status;
};

/// One step; every row is drawn with the uniform `u`.
template <class Space>
Outcome outcome(const OwnedStep& step, const std::vector<float>& values, std::size_t vocabulary,
                float u = 0.5f, std::size_t active = 0) {
  using Memory = MemoryOf<Space>;
  const std::size_t rows = values.size() / vocabulary;
  const Space space;
  Guarded<float, Memory> logits(rows, vocabulary, 3, values);
  Guarded<float, Memory> probabilities(rows, vocabulary, 1, {}), truncated(rows, vocabulary, 0, {});
  Guarded<std::int32_t, Memory> tokens(rows), status(rows);
  LogitProcessor<Space> processor(space, static_cast<std::int64_t>(rows),
                                  static_cast<std::int64_t>(vocabulary),
                                  static_cast<std::int64_t>(active == 0 ? vocabulary : active));
  const std::vector<float> uniforms(rows, u);
  processor.process(logits.matrix(), step.requests(),
                    {.probabilities = probabilities.matrix(),
                     .tokens = tokens.vector(),
                     .truncated_probabilities = truncated.matrix(),
                     .row_status = status.vector()},
                    {.uniforms = uniforms});
  space.fence("tokkos::test::accepted");
  Outcome result{logits.values(), probabilities.values(), truncated.values(), tokens.values(),
                 status.values()};
  CHECK((logits.guards_intact() && probabilities.guards_intact() && truncated.guards_intact()));
  CHECK((tokens.guards_intact() && status.guards_intact()));
  return result;
}

OwnedStep one_request(const GenerationConfig& config,
                      const TokenHistory& history = TokenHistory()) {
  OwnedStep step;
  step.add(config, history);
  return step;
}

/// softmax(x / t) in double; -infinity and -FLT_MAX have no part in it.
std::vector<double> softmax(const std::vector<float>& x, double t) {
  std::vector<double> p(x.size(), 0.0);
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    if (x[v] > -FLT_MAX) sum += p[v] = std::exp((x[v] - largest) / t);
  }
  for (double& value : p) value /= sum;
  return p;
}

void check_close(const std::vector<float>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t v = 0; v < found.size(); ++v) {
    CAPTURE(v);
    CHECK(std::abs(found[v] - expected[v]) <= 1e-4 * expected[v] + 2e-38);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a bias of minus infinity masks its token", "[row-04]", ExecutionSpaces) {
  for (const TokenId token : {0, 2, 4}) {
    const OwnedStep step = one_request({.logit_bias = {{token, -infinity}, {1, 0.5}}});
    const Outcome found = outcome<TestType>(step, {1, 2, 3, 4, 5}, 5);
    std::vector<float> x{1, 2.5f, 3, 4, 5};
    x[static_cast<std::size_t>(token)] = -infinity;
    CHECK(found.logits == x);
    check_close(found.probabilities, softmax(x, 1));
    CHECK(found.probabilities[static_cast<std::size_t>(token)] == 0.0f);
  }
}

TEMPLATE_LIST_TEST_CASE("biases of one token are added up in their order", "[row-06]",
                        ExecutionSpaces) {
  // In float32 the order matters: 1e8 swallows what is added while it is there.
  const std::vector<std::pair<std::vector<double>, float>> cases{
      {{1e8, -1e8, 1.0}, 1.0f}, {{1.0, 1e8, -1e8}, 0.0f}, {{0.25, 0.25, 0.5}, 1.0f}};
  for (const auto& [biases, expected] : cases) {
    GenerationConfig config;
    for (const double bias : biases) config.logit_bias.emplace_back(2, bias);
    const Outcome found = outcome<TestType>(one_request(config), {0, 0, 0, 0}, 4);
    CHECK(found.logits == std::vector<float>{0, 0, expected, 0});
  }
}

TEMPLATE_LIST_TEST_CASE("a tiny repetition penalty saturates and keeps its token allowed",
                        "[row-15]", ExecutionSpaces) {
  TokenHistory history({0});
  history.commit(1);
  for (const float r : {0x1p-149f, FLT_MIN, 1e-38f}) {
    GenerationConfig config{.temperature = 0.0f, .repetition_penalty = r};
    const Outcome found = outcome<TestType>(one_request(config, history), {1, 8, 3, 4}, 4);
    CHECK(found.logits == std::vector<float>{1, 0x1.fffffcp127f, 3, 4});
    CHECK(found.tokens[0] == 1);
    CHECK(found.status[0] == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("bad logits of forbidden tokens are not looked at", "[row-24][row-26]",
                        ExecutionSpaces) {
  const std::vector<float> clean{1, 2, -infinity, 4, -infinity, 0.5f};
  const OwnedStep step = one_request({.allowed_token_ids = {0, 1, 3, 5}});
  const Outcome expected = outcome<TestType>(step, clean, 6);
  CHECK(expected.status[0] == 0);
  check_close(expected.probabilities, softmax(clean, 1));
  for (const float bad : {not_a_number, -not_a_number, infinity, -infinity, FLT_MAX, -FLT_MAX}) {
    std::vector<float> dirty = clean;
    dirty[2] = dirty[4] = bad;
    const Outcome found = outcome<TestType>(step, dirty, 6);
    CHECK(found.probabilities == expected.probabilities);
    CHECK(found.tokens == expected.tokens);
    CHECK(found.status == expected.status);
  }
}

TEMPLATE_LIST_TEST_CASE("huge logits at a tiny temperature stay finite", "[row-27][row-30]",
                        ExecutionSpaces) {
  for (const float t : {2e-5f, 1.1e-5f, std::nextafter(1e-5f, 1.0f)}) {
    for (const float scale : {1e34f, 1.0f, FLT_MAX / 8}) {
      const Outcome found =
          outcome<TestType>(one_request({.temperature = t}), {scale, scale, -scale, 0}, 4);
      CHECK(found.probabilities == std::vector<float>{0.5f, 0.5f, 0.0f, 0.0f});
      CHECK(found.status[0] == 0);
    }
    const std::vector<float> close{1.0f, 1.0f + 0x1p-17f, 1.0f - 0x1p-18f};
    const Outcome found = outcome<TestType>(one_request({.temperature = t}), close, 3);
    check_close(found.probabilities, softmax(close, t));
  }
}

TEMPLATE_LIST_TEST_CASE("temperatures up to 1e-5 are greedy", "[row-29]", ExecutionSpaces) {
  for (const float t : {0.0f, -0.0f, 0x1p-149f, 1e-6f, 1e-5f}) {
    const Outcome found =
        outcome<TestType>(one_request({.temperature = t}), {3, 1, 3, 2.9999998f}, 4);
    CHECK(found.probabilities == std::vector<float>{0.5f, 0.0f, 0.5f, 0.0f});
    CHECK((found.tokens[0] == 0 || found.tokens[0] == 2));
  }
}

TEMPLATE_LIST_TEST_CASE("a share just below 1 truncates and counts tokens rightly", "[row-33]",
                        ExecutionSpaces) {
  const std::vector<float> x{8, 8, 8, 8, -30, -90};
  for (const float p : {0.9999999f, 1.0f - 0x1p-24f, 0.999999f}) {
    const Outcome found = outcome<TestType>(one_request({.top_p = p}), x, 6, 1.0f - 0x1p-24f);
    CHECK(found.truncated == std::vector<float>{0.25f, 0.25f, 0.25f, 0.25f, 0, 0});
    CHECK(found.tokens[0] == 3);
  }
}

TEMPLATE_LIST_TEST_CASE("truncations that keep everything are off", "[row-34]", ExecutionSpaces) {
  const std::vector<float> x{1, 2, 3, 4};
  const std::vector<float> plain = outcome<TestType>(one_request({}), x, 4).probabilities;
  for (const std::int32_t k : {0, 4, 5, std::numeric_limits<std::int32_t>::max()}) {
    CHECK(outcome<TestType>(one_request({.top_k = k}), x, 4).truncated == plain);
  }
}

TEMPLATE_LIST_TEST_CASE("ties at a truncation's edge go to the lowest ids", "[row-36]",
                        ExecutionSpaces) {
  const std::vector<float> x{1, 5, 5, 5, 5, 0};
  const auto kept = [&](const GenerationConfig& config) {
    const Outcome found = outcome<TestType>(one_request(config), x, 6);
    return std::ranges::count_if(found.truncated, [](float p) { return p > 0; });
  };
  for (const int k : {1, 2, 3}) {
    const Outcome found = outcome<TestType>(one_request({.top_k = k}), x, 6);
    std::vector<float> expected(6, 0.0f);
    for (int i = 1; i <= k; ++i)
      expected[static_cast<std::size_t>(i)] = 1.0f / static_cast<float>(k);
    CHECK(found.truncated == expected);
  }
  CHECK(kept({.top_p = 0.4f}) == 2);
  CHECK(kept({.min_p = 1.0f}) == 4);
}

TEMPLATE_LIST_TEST_CASE("the least and the largest uniform draw a token that may come", "[row-37]",
                        ExecutionSpaces) {
  const std::vector<float> x{-infinity, -FLT_MAX, 2, 3, -infinity};
  for (const float t : {0.0f, 0.5f, 1.0f, 30.0f}) {
    const Outcome first = outcome<TestType>(one_request({.temperature = t}), x, 5, 0.0f);
    CHECK(first.tokens[0] == (t == 0.0f ? 3 : 2));
    const float last = 1.0f - 0x1p-24f;
    CHECK(outcome<TestType>(one_request({.temperature = t}), x, 5, last).tokens[0] == 3);
    CHECK(outcome<TestType>(one_request({.temperature = t}), x, 5, 0x1p-149f).tokens[0] >= 2);
  }
}

TEMPLATE_LIST_TEST_CASE("vocabularies of any length are whole", "[row-49]", ExecutionSpaces) {
  for (const std::size_t v : {1, 2, 3, 31, 33, 63, 4095, 4097, 8191}) {
    CAPTURE(v);
    std::vector<float> x(v);
    for (std::size_t i = 0; i < v; ++i) x[i] = static_cast<float>(i % 13) / 4;
    const Outcome found = outcome<TestType>(one_request({.temperature = 0.9f}), x, v);
    check_close(found.probabilities, softmax(x, 0.9f));
    x.assign(v, 0.0f);
    x.back() = 1;  // the last token counts
    CHECK(outcome<TestType>(one_request({.temperature = 0}), x, v).tokens[0] ==
          static_cast<TokenId>(v - 1));
  }
}

TEMPLATE_LIST_TEST_CASE("nothing to do launches nothing", "[row-54]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  const TestType space;
  LogitProcessor<TestType> processor(space, 4, 10);
  Sampler<TestType> sampler(space, 4, 10);
  DraftVerifier<TestType> verifier(space, 4, 10);
  const Guarded<float, Memory> logits(0, 10, 0, {});
  const Guarded<std::int32_t, Memory> tokens(0);
  const Guarded<float, Memory> logprobs(0);  // of drawn tokens that are not asked for
  const KokkosEvents events;
  const StepRequests none;
  processor.inplace_update_logits(logits.matrix(), none);
  processor.compute_probs_from_logits(logits.matrix(), none, logits.matrix());
  processor.process(logits.matrix(), none, {.tokens = tokens.vector()});
  processor.process(logits.matrix(), none, {.logprobs = logprobs.vector()});
  sampler.sample_from_logits(logits.matrix(), none, tokens.vector());
  sampler.sample_from_probabilities(logits.matrix(), {}, tokens.vector());
  CHECK(verifier.verify(logits.matrix(), {}, {}, {}).empty());
  // Views of no rows at all, and of no columns.
  const Matrix<float, Memory> nothing;
  processor.inplace_update_logits(nothing, none);
  processor.compute_probs_from_logits(nothing, none, nothing);
  processor.process(nothing, none, {.tokens = tokens.vector()});
  sampler.sample_from_logits(nothing, none, {});
  sampler.sample_from_probabilities(nothing, {}, {});
  CHECK(verifier.verify(nothing, {}, {}, {}).empty());
  CHECK(verifier.verify_greedy(nothing, {}).empty());
  CHECK(events.launches().empty());
}

}  // namespace tokkos::test
