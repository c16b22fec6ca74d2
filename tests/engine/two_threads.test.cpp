// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// One object is for one thread at a time; two objects work on two threads.
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <random>
#include <thread>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 4500;
constexpr std::uint64_t steps = 12;

/// All that a thread's steps yield, as bits.
using Bits = std::vector<std::uint32_t>;

template <class ExecutionSpace>
Bits run_steps(std::uint64_t seed) {
  using Memory = MemoryOf<ExecutionSpace>;
  const ExecutionSpace space;
  LogitProcessor<ExecutionSpace> processor(space, 64, vocabulary);
  Sampler<ExecutionSpace> sampler(space, 64, vocabulary);
  Bits bits;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const RandomStep given =
        make_random_step_with_histories(vocabulary, vocabulary, 100 * seed + step);
    const StepRequests requests = given.step.requests();
    const auto rows = static_cast<std::size_t>(given.rows);
    std::mt19937_64 random(seed + step);
    const auto values = random_logits(rows * vocabulary, random, false);
    Guarded<float, Memory> logits(rows, vocabulary, 0, values);
    Guarded<float, Memory> probabilities(rows, vocabulary, 0, {});
    Guarded<TokenId, Memory> tokens(rows), again(rows);
    processor.inplace_update_logits(logits.matrix(), requests);
    sampler.sample_from_logits(logits.matrix(), requests, tokens.vector());
    processor.process(logits.matrix(), requests,
                      {.probabilities = probabilities.matrix(), .tokens = again.vector()});
    space.fence("tokkos::test::two_threads");
    for (const float p : probabilities.values()) bits.push_back(std::bit_cast<std::uint32_t>(p));
    for (auto* drawn : {&tokens, &again}) {
      for (const TokenId t : drawn->values()) bits.push_back(static_cast<std::uint32_t>(t));
    }
  }
  return bits;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("two threads with objects of their own get the bits that each gets alone",
                        "[engine]", ExecutionSpaces) {
  const std::vector<Bits> alone{run_steps<TestType>(1), run_steps<TestType>(2)};
  REQUIRE(alone[0] != alone[1]);
  std::vector<Bits> together(2);
  std::vector<std::exception_ptr> problems(2);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 2; ++i) {
      threads.emplace_back([&together, &problems, i] {
        try {
          together[i] = run_steps<TestType>(i + 1);
        } catch (...) {
          problems[i] = std::current_exception();
        }
      });
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (problems[i]) std::rethrow_exception(problems[i]);
    CHECK(together[i] == alone[i]);
  }
}

}  // namespace tokkos::test
