// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The first step that asks for raw log-probabilities allocates; if that fails, nothing is lost.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"
#include "lost_by_kokkos.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

/// While it lives, memory with the label of the logits that a raw step saves cannot be had.
class NoRoomForRawLogits {
 public:
  NoRoomForRawLogits() {
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t) {
          if (std::strcmp(label, "tokkos::logit_processor::edited_logits") == 0) {
            throw std::bad_alloc();
          }
        });
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](const char*, std::uint32_t, std::uint64_t*) { ++s_launches; });
    s_launches = 0;
  }
  ~NoRoomForRawLogits() {
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  }
  NoRoomForRawLogits(const NoRoomForRawLogits&) = delete;
  NoRoomForRawLogits& operator=(const NoRoomForRawLogits&) = delete;
  int launches() const { return s_launches; }

 private:
  static inline int s_launches = 0;
  UnreportedLeaks m_leaks;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a raw step that finds no memory launches nothing and stays prepared",
                        "[engine]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  constexpr std::size_t rows = 2, vocabulary = 100;
  std::vector<float> values(rows * vocabulary);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13);
  OwnedStep step;
  for (std::size_t i = 0; i < rows; ++i) step.add({.logit_bias = {{3, 2.0}}}, TokenHistory({1, 2}));

  Guarded<float, MemorySpace> logits(rows, vocabulary, 0, values);
  Guarded<float, MemorySpace> expected_logits(rows, vocabulary, 0, values);
  Guarded<std::int32_t, MemorySpace> tokens(rows), expected_tokens(rows);
  Guarded<float, MemorySpace> logprobs(rows), expected_logprobs(rows);
  StepOutputs<MemorySpace> outputs, expected;
  outputs.tokens = tokens.vector();
  outputs.raw_logprobs = logprobs.vector();
  expected.tokens = expected_tokens.vector();
  expected.raw_logprobs = expected_logprobs.vector();
  LogitProcessor<TestType> other(TestType(), rows, vocabulary);
  other.process(expected_logits.matrix(), step.requests(), expected);

  LogitProcessor<TestType> processor(TestType(), rows, vocabulary);
  processor.prepare(rows, step.requests());
  const auto no_tokens = tokens.values();
  {
    const NoRoomForRawLogits none;
    CHECK_THROWS_AS(processor.process(logits.matrix(), outputs), std::bad_alloc);
    CHECK(none.launches() == 0);
  }
  CHECK(logits.values() == values);
  CHECK(tokens.values() == no_tokens);
  processor.process(logits.matrix(), outputs);
  Kokkos::fence("tokkos::test::done");
  CHECK(logits.values() == expected_logits.values());
  CHECK(tokens.values() == expected_tokens.values());
  CHECK(logprobs.values() == expected_logprobs.values());
}

TEMPLATE_LIST_TEST_CASE("a step at once that finds no memory is not prepared by that", "[engine]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  OwnedStep step;
  step.add({.logit_bias = {{3, 2.0}}}, TokenHistory({1, 2}));
  const Guarded<float, MemorySpace> logits(1, 100, 0, {}), logprobs(1);
  const Guarded<std::int32_t, MemorySpace> tokens(1);
  StepOutputs<MemorySpace> outputs;
  outputs.tokens = tokens.vector();
  outputs.raw_logprobs = logprobs.vector();
  LogitProcessor<TestType> processor(TestType(), 1, 100);
  {
    const NoRoomForRawLogits none;
    CHECK_THROWS_AS(processor.process(logits.matrix(), step.requests(), outputs), std::bad_alloc);
  }
  CHECK(error_of([&] { processor.process(logits.matrix(), outputs); }).field == "prepare");
}

}  // namespace tokkos::test
