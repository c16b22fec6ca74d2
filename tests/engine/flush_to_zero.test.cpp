// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A caller's thread that flushes to zero: subnormal parameters work as in any other thread.
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends.hpp"
#include "flush_to_zero.hpp"
#include "kernels/guarded.hpp"
#include "request/error_of.hpp"
#include "request/owned_step.hpp"

namespace tokkos::test {

namespace {

constexpr std::size_t vocabulary = 40;
constexpr float tiny = 1e-40f;

/// Requests whose parameters are subnormal, one kind each.
OwnedStep subnormal_step() {
  TokenHistory history({0});
  for (const TokenId token : {1, 2, 2}) history.commit(token);
  OwnedStep step;
  step.add({.temperature = tiny}, history);
  step.add({.min_p = tiny}, history);
  step.add({.presence_penalty = 3e-41f}, history);
  step.add({.frequency_penalty = -tiny}, history);
  step.add({.repetition_penalty = tiny}, history);
  step.add({.logit_bias = {{5, 1e-41}, {5, 2e-41}, {6, -1e-45}}}, history);
  return step;
}

/// Bits of everything that the two calls write.
template <class ExecutionSpace>
std::vector<std::uint32_t> outcome() {
  using Space = MemoryOf<ExecutionSpace>;
  OwnedStep step = subnormal_step();
  const std::size_t rows = step.configs.size();
  std::vector<float> values(rows * vocabulary);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t token = i % vocabulary;
    values[i] = token % 5 < 2 ? 0.0f : 0.25f * static_cast<float>(i % 7);
    if (token == 2) values[i] = -1.0f;
  }
  Guarded<float, Space> logits(rows, vocabulary, 0, values), probabilities(rows, vocabulary, 0, {});
  Guarded<TokenId, Space> tokens(rows), sampled(rows);
  const EditHook hook = [](RowEdits& row) { row.add_bias(10, 1e-41); };
  StepRequests requests = step.requests();
  requests.edit_hook = &hook;
  const std::vector<float> uniforms(rows, 0.75f);
  LogitProcessor<ExecutionSpace> processor(ExecutionSpace(), rows, vocabulary);
  Sampler<ExecutionSpace> sampler(ExecutionSpace(), rows, vocabulary);
  processor.process(logits.matrix(), requests,
                    {.tokens = tokens.vector(), .truncated_probabilities = probabilities.matrix()},
                    {.uniforms = uniforms});
  sampler.sample_from_logits(logits.matrix(), requests, sampled.vector(), uniforms);
  Kokkos::fence("tokkos::test::processed");
  std::vector<std::uint32_t> bits;
  for (const float x : logits.values()) bits.push_back(std::bit_cast<std::uint32_t>(x));
  for (const float p : probabilities.values()) bits.push_back(std::bit_cast<std::uint32_t>(p));
  for (const TokenId token : tokens.values()) bits.push_back(static_cast<std::uint32_t>(token));
  for (const TokenId token : sampled.values()) bits.push_back(static_cast<std::uint32_t>(token));
  return bits;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a caller that flushes to zero gets the same step", "[engine]",
                        ExecutionSpaces) {
  if (flush_bits == 0) SKIP("no such mode is known for this processor");
  const std::vector<std::uint32_t> expected = outcome<TestType>();
  std::vector<std::uint32_t> bits;
  float flushed = -1.0f;
  {
    const FlushToZero mode;
    flushed = doubled_subnormal();
    bits = outcome<TestType>();
  }
  CHECK(flushed == 0.0f);
  CHECK(bits == expected);
  const auto logit = [&](std::size_t row, std::size_t token) {
    return std::bit_cast<float>(expected[row * vocabulary + token]);
  };
  CHECK(logit(0, 10) == 1e-41f);  // the hook's
  CHECK(logit(2, 1) == -3e-41f);
  CHECK(logit(3, 1) == tiny);
  CHECK(logit(4, 2) == -tiny);
  CHECK(logit(5, 5) == 1e-41f + 2e-41f);
}

TEMPLATE_LIST_TEST_CASE("a negative uniform is refused however small it is", "[engine]",
                        ExecutionSpaces) {
  const Guarded<float, MemoryOf<TestType>> logits(1, vocabulary, 0, {});
  const Guarded<TokenId, MemoryOf<TestType>> tokens(1);
  OwnedStep step;
  step.add({});
  Sampler<TestType> sampler(TestType(), 1, vocabulary);
  const std::vector<float> uniforms{-tiny};
  std::string value;
  {
    const FlushToZero mode;
    value =
        error_of([&] {
          sampler.sample_from_logits(logits.matrix(), step.requests(), tokens.vector(), uniforms);
        }).value;
  }
  CHECK(value == "-1e-40");
}

}  // namespace tokkos::test
