// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// One object is for one thread at a time; two objects work on two threads.
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "engine/step_views.hpp"
#include "threads/two_threads.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = step_vocabulary;
constexpr std::uint64_t steps = 4;

/// Steps of every kind on one instance; each step is prepared while the one before it runs.
template <class ExecutionSpace>
Bits run_steps(const ExecutionSpace& space, std::uint64_t seed, EventTraceRecorder* trace) {
  using Memory = MemoryOf<ExecutionSpace>;
  LogitProcessor<ExecutionSpace> processor(space, 64, vocabulary, {}, trace);
  LogitProcessor<ExecutionSpace> prepared(space, 64, vocabulary, {}, trace);
  Sampler<ExecutionSpace> sampler(space, 64, vocabulary, {}, trace);
  std::unique_ptr<RandomStep> next = make_truncated_step(vocabulary, 100 * seed);
  prepared.prepare(next->rows, next->step.requests());
  Bits bits;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::unique_ptr<RandomStep> given = std::move(next);
    const StepRequests requests = given->step.requests();
    const auto rows = static_cast<std::size_t>(given->rows);
    const StepViews<Memory> at_once(rows, seed + step), in_halves(rows, seed + step),
        apart(rows, seed + step);
    prepared.process(in_halves.logits.matrix(), in_halves.outputs());
    next = make_truncated_step(vocabulary, 100 * seed + step + 1);
    prepared.prepare(next->rows, next->step.requests());
    processor.inplace_update_logits(apart.logits.matrix(), requests);
    sampler.sample_from_logits(apart.logits.matrix(), requests, apart.tokens.vector());
    processor.process(at_once.logits.matrix(), requests, at_once.outputs());
    space.fence("tokkos::test::two_threads");
    for (const auto* views : {&apart, &at_once, &in_halves}) append(bits, views->bits());
  }
  return bits;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("two threads with objects of their own get the bits that each gets alone",
                        "[engine][threads]", ExecutionSpaces) {
  check_two_threads<TestType>(
      [](const TestType& space, std::uint64_t seed, EventTraceRecorder* trace) {
        return run_steps(space, seed, trace);
      });
}

}  // namespace tokkos::test
