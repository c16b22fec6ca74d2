// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// One object is for one thread at a time; two objects work on two threads.
#include <tokkos/engine/chrome_trace_recorder.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "engine/read_trace.hpp"
#include "engine/two_threads.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 4500;
constexpr std::uint64_t steps = 4;
constexpr std::size_t top = 5;

/// Everything that a step can be asked for.
template <class Space>
struct Results {
  Guarded<float, Space> probabilities, truncated, logprobs;
  Guarded<TokenId, Space> tokens, top_tokens;
  Guarded<float, Space> top_logprobs;
  Guarded<float, Space> log_sum_exp;
  Guarded<std::int32_t, Space> status;

  explicit Results(std::size_t rows)
      : probabilities(rows, vocabulary, 0, {}),
        truncated(rows, vocabulary, 0, {}),
        logprobs(rows),
        tokens(rows),
        top_tokens(rows, top, 0, {}),
        top_logprobs(rows, top, 0, {}),
        log_sum_exp(rows),
        status(rows) {}

  StepOutputs<Space> outputs() {
    return {.probabilities = probabilities.matrix(),
            .tokens = tokens.vector(),
            .truncated_probabilities = truncated.matrix(),
            .logprobs = logprobs.vector(),
            .top_tokens = top_tokens.matrix(),
            .top_logprobs = top_logprobs.matrix(),
            .log_sum_exp = log_sum_exp.vector(),
            .row_status = status.vector()};
  }

  void append_to(Bits& bits) {
    append(bits, probabilities.values());
    append(bits, truncated.values());
    append(bits, logprobs.values());
    append(bits, tokens.values());
    append(bits, top_tokens.values());
    append(bits, top_logprobs.values());
    append(bits, log_sum_exp.values());
    append(bits, status.values());
  }
};

/// A random step; two of three requests are truncated.
std::unique_ptr<RandomStep> truncated_step(std::uint64_t seed) {
  auto step =
      std::make_unique<RandomStep>(make_random_step_with_histories(vocabulary, vocabulary, seed));
  for (std::size_t i = 0; i < step->step.configs.size(); ++i) {
    GenerationConfig& config = step->step.configs[i];
    if (i % 3 == 0) config.top_k = static_cast<std::int32_t>(1 + 30 * i);
    if (i % 3 == 1) config.top_p = 0.7f;
    if (i % 3 == 1) config.min_p = 0.02f;
  }
  return step;
}

/// Steps of every kind on one instance; each step is prepared while the one before it runs.
template <class ExecutionSpace>
Bits run_steps(const ExecutionSpace& space, std::uint64_t seed, EventTraceRecorder* trace) {
  using Memory = MemoryOf<ExecutionSpace>;
  LogitProcessor<ExecutionSpace> processor(space, 64, vocabulary, {}, trace);
  LogitProcessor<ExecutionSpace> prepared(space, 64, vocabulary, {}, trace);
  Sampler<ExecutionSpace> sampler(space, 64, vocabulary, {}, trace);
  std::unique_ptr<RandomStep> next = truncated_step(100 * seed);
  prepared.prepare(next->rows, next->step.requests());
  Bits bits;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::unique_ptr<RandomStep> given = std::move(next);
    const StepRequests requests = given->step.requests();
    const auto rows = static_cast<std::size_t>(given->rows);
    std::mt19937_64 random(seed + step);
    const auto values = random_logits(rows * vocabulary, random, false);
    Guarded<float, Memory> logits(rows, vocabulary, 0, values), later(rows, vocabulary, 0, values);
    Guarded<TokenId, Memory> tokens(rows);
    Results<Memory> at_once(rows), in_halves(rows);
    prepared.process(later.matrix(), in_halves.outputs());
    next = truncated_step(100 * seed + step + 1);
    prepared.prepare(next->rows, next->step.requests());
    processor.inplace_update_logits(logits.matrix(), requests);
    sampler.sample_from_logits(logits.matrix(), requests, tokens.vector());
    processor.process(logits.matrix(), requests, at_once.outputs());
    space.fence("tokkos::test::two_threads");
    append(bits, tokens.values());
    at_once.append_to(bits);
    in_halves.append_to(bits);
  }
  return bits;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("two threads with objects of their own get the bits that each gets alone",
                        "[engine][threads]", ExecutionSpaces) {
  const TestType space;
  const std::vector<Bits> alone{run_steps(space, 1, nullptr), run_steps(space, 2, nullptr)};
  REQUIRE(alone[0] != alone[1]);
  const bool own_instances = GENERATE(false, true);
  CAPTURE(own_instances);
  const auto spaces = two_instances<TestType>(own_instances);
  ChromeTraceRecorder trace;
  const auto together =
      run_together([&](std::size_t i) { return run_steps(spaces[i], i + 1, &trace); });
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(together[i].size() == alone[i].size());
    CHECK((together[i] == alone[i]));  // not the million of them
  }
  CHECK(read_trace(trace.json()).dropped_stages == 0);
}

}  // namespace tokkos::test
