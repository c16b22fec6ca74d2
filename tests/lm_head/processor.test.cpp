// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
// LmHeadProcessor against rows of logits and LogitProcessor: the same bits from the same requests.
#include <tokkos/lm_head/lm_head_processor.hpp>

#include "backends.hpp"
#include "lm_head/processed_step.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace tokkos::test;
using tokkos::LmHeadProduct;

TEMPLATE_LIST_TEST_CASE("an LM head's processor gives the bits of rows and LogitProcessor",
                        "[lm_head]", Backends) {
  using Space = typename TestType::execution_space;
  using Memory = typename TestType::memory_space;
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  const RandomStep step = make_random_step_with_histories(
      head_vocabulary, seed % 2 == 0 ? head_vocabulary : head_vocabulary - 777, seed);
  const Snapshot before(step);
  tokkos::StepRequests requests = step.step.requests();
  const tokkos::EditHook hook = [](tokkos::RowEdits& row) {
    row.add_bias(static_cast<tokkos::TokenId>(100 + row.row()), 11.0);
  };
  if (seed == 5) requests.edit_hook = &hook;
  for (const auto product : {LmHeadProduct::fixed_order, LmHeadProduct::gemm}) {
    const DeviceHead<TestType> device(head_of(step, product));
    const auto head = device.head();
    tokkos::LmHeadProcessor<Space, typename TestType::logit> processor(head);
    const Bits expected = by_rows(device, step, requests);
    for (int again = 0; again < 3; ++again) {  // blobs take turns
      const HeadViews<Memory> results(static_cast<std::size_t>(step.rows));
      processor.process(device.hidden(), requests, results.of_head());
      Space().fence("tokkos::test::processor");
      CHECK(results.bits() == expected);
      CHECK(results.intact());
    }
    CHECK(processor.staged_bytes() > 0);
  }
  CHECK(Snapshot(step) == before);
}

TEMPLATE_LIST_TEST_CASE("an LM head's processor takes given uniforms and ties", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary, 3);
  step.step.configs[0] = {};  // of which no edit is larger than the others
  step.step.configs[0].temperature = 0.0f;
  HeadCase head_case = head_of(step);
  for (std::int64_t v = 1; v < head_vocabulary; ++v) {  // all logits of a row are equal
    std::copy_n(head_case.weight.begin(), head_size, head_case.weight.begin() + v * head_size);
  }
  const DeviceHead<OnSpace> device(head_case);
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  std::vector<float> uniforms;
  for (std::int64_t i = 0; i < step.rows; ++i) uniforms.push_back(0.93f);
  const tokkos::StepRequests requests = step.step.requests();
  Bits ties_lowest, ties_uniform;
  for (const auto ties : {tokkos::GreedyTies::uniform, tokkos::GreedyTies::lowest_id}) {
    const HeadViews<typename OnSpace::memory_space> results(static_cast<std::size_t>(step.rows));
    auto outputs = results.of_head();
    outputs.ties = ties;
    processor.process(device.hidden(), requests, outputs, uniforms);
    TestType().fence("tokkos::test::processor");
    CHECK(results.bits() == by_rows(device, step, requests, {.uniforms = uniforms, .ties = ties}));
    (ties == tokkos::GreedyTies::uniform ? ties_uniform : ties_lowest) = results.bits();
  }
  CHECK(ties_uniform != ties_lowest);
}

TEMPLATE_LIST_TEST_CASE("a step of no requests is no step of an LM head's processor", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Memory = typename OnSpace::memory_space;
  const DeviceHead<OnSpace> device(plain_case(2, 300, 4, 72));
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> none("none", 0, 4);
  processor.process(none, {}, {});
  CHECK(device.results() == DeviceHead<OnSpace>(plain_case(2, 300, 4, 72)).results());
}
