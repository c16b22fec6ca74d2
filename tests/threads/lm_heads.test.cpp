// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

#include <tokkos/lm_head/lm_head.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>

#include "backends.hpp"
#include "lm_head/head_on_device.hpp"
#include "threads/two_threads.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t steps = 4, vocabulary = 9000;

/// Steps of everything that an LM head does.
template <class ExecutionSpace>
Bits run_head(const ExecutionSpace& space, std::uint64_t seed, EventTraceRecorder*) {
  Bits bits;
  for (std::int64_t step = 0; step < steps; ++step) {
    HeadCase head = full_case(3 + step, vocabulary, 16, 100 * seed + 2 * step);
    head.options.block_tokens = 4096;
    const DeviceHead<Backend<ExecutionSpace, float>> device(head);
    const LmHead<ExecutionSpace, float> made(space, device.weight(), head.rows, head.options);
    made.process(device.inputs(), device.outputs());
    space.fence("tokkos::test::head");
    const HeadResults results = device.results();
    append(bits, results.tokens);
    append(bits, results.token_logprobs);
    append(bits, results.log_sum_exp);
    append(bits, results.given_logprobs);
    append(bits, results.top_tokens);
    append(bits, results.top_logprobs);
    append(bits, results.status);
  }
  return bits;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("two threads with an LM head each get the bits that each gets alone",
                        "[threads]", ExecutionSpaces) {
  check_two_threads<TestType>(run_head<TestType>);
}

}  // namespace tokkos::test
