// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// An allocation of an LM head fails, whichever it is.
#include <tokkos/lm_head/lm_head_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <exception>
#include <optional>

#include "bad_inputs/leaks.hpp"
#include "lm_head/head_on_device.hpp"
#include "lm_head/processed_step.hpp"

namespace tokkos::test {
namespace {

/// A step of three rows with every edit and output, by the given product.
HeadCase case_of(LmHeadProduct product) {
  HeadCase head = full_case(3, 5000, 8, 71);
  head.options.product = product;
  return head;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("an LM head whose n-th allocation fails is not made and leaks nothing",
                        "[lm_head]", HostSpaces) {
  if (!kokkos_survives_failing_allocations) SKIP("Kokkos's debug mode does not survive this");
  using OnSpace = Backend<TestType, bfloat16>;
  const DeviceHead<OnSpace> device(
      case_of(GENERATE(LmHeadProduct::fixed_order, LmHeadProduct::gemm)));
  const auto made = [&](std::int64_t n) {
    std::optional<LmHead<TestType, bfloat16>> head;
    fail_allocation(n);
    try {
      head.emplace(device.head());
    } catch (const std::exception&) {
    }
    return std::pair(stop_failing(), !head);  // before the head goes: Kokkos frees no View then
  };
  made(-1);
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    const std::int64_t before = settled_allocations<MemoryOf<TestType>>();
    const auto [found, threw] = made(n);
    failed = found.happened;
    const std::int64_t leaked = settled_allocations<MemoryOf<TestType>>() - before;
    CAPTURE(n, leaked, found.lost_by_kokkos);
    REQUIRE(failed == threw);
    REQUIRE(is_accounted_for(leaked, found));
  }
  CHECK(n > 5);
}

TEMPLATE_LIST_TEST_CASE("a step of an LM head whose n-th allocation fails leaves it usable",
                        "[lm_head]", HostSpaces) {
  if (!kokkos_survives_failing_allocations) SKIP("Kokkos's debug mode does not survive this");
  using OnSpace = Backend<TestType, bfloat16>;
  const HeadCase head = case_of(GENERATE(LmHeadProduct::fixed_order, LmHeadProduct::gemm));
  const HeadResults expected = DeviceHead<OnSpace>(head).stream();
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    const DeviceHead<OnSpace> device(head), next(head);
    const HeadResults before = device.results();
    const auto made = device.head();
    const std::int64_t allocated = settled_allocations<MemoryOf<TestType>>();
    bool threw = false;
    fail_allocation(n);
    try {
      made.process(device.inputs(), device.outputs());
    } catch (const std::exception&) {
      threw = true;
    }
    failed = stop_failing().happened;
    const std::int64_t leaked = settled_allocations<MemoryOf<TestType>>() - allocated;
    CAPTURE(n, threw);
    CHECK(leaked == 0);
    CHECK(failed == threw);
    if (!threw) CHECK(device.results() == expected);
    if (threw && n == 0) CHECK(device.results() == before);
    made.process(next.inputs(), next.outputs());
    CHECK(next.results() == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("a step of requests whose n-th allocation fails leaves an LM head usable",
                        "[lm_head]", HostSpaces) {
  if (!kokkos_survives_failing_allocations) SKIP("Kokkos's debug mode does not survive this");
  using OnSpace = Backend<TestType, float>;
  const RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary, 1);
  const Snapshot before(step);
  const DeviceHead<OnSpace> device(head_of(step));
  const auto head = device.head();
  const Bits expected = by_rows(device, step, step.step.requests());
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    LmHeadProcessor<TestType, float> processor(head);
    const HeadViews<MemoryOf<TestType>> results(static_cast<std::size_t>(step.rows));
    const Bits unwritten = results.bits();
    const auto outputs = results.of_head();
    const StepRequests requests = step.step.requests();
    bool threw = false;
    fail_allocation(n);
    try {
      processor.process(device.hidden(), requests, outputs);
    } catch (const std::exception&) {
      threw = true;
    }
    failed = stop_failing().happened;
    CAPTURE(n, threw);
    CHECK((failed || !threw));  // a sort does without memory
    if (!threw) CHECK(results.bits() == expected);
    if (threw && n == 0) CHECK(results.bits() == unwritten);  // later ones may be Kokkos's launches
    CHECK(Snapshot(step) == before);
    processor.process(device.hidden(), requests, outputs);
    CHECK(results.bits() == expected);
  }
  CHECK(n > 5);
}

}  // namespace tokkos::test
