// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// LogitProcessor in two halves: what is prepared while the model runs is what process does at once.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "engine/random_step.hpp"
#include "engine/step_views.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

template <class ExecutionSpace>
using Views = StepViews<MemoryOf<ExecutionSpace>>;

constexpr std::int64_t vocabulary = step_vocabulary;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a prepared step gives the bits of process, and its requests may be gone",
                        "[engine]", ExecutionSpaces) {
  const TestType space;
  LogitProcessor<TestType> at_once(space, 60, vocabulary), halves(space, 60, vocabulary);
  for (const std::uint64_t seed : {11u, 12u, 13u, 14u, 15u}) {  // both blobs, growing and shrinking
    auto step = make_truncated_step(vocabulary, seed);
    const auto rows = static_cast<std::size_t>(step->rows);
    REQUIRE(rows <= 60);
    const Views<TestType> expected(rows, seed), actual(rows, seed);
    at_once.process(expected.logits.matrix(), step->step.requests(), expected.outputs());
    halves.prepare(step->rows, step->step.requests());
    CHECK(halves.staged_bytes() == at_once.staged_bytes());
    step.reset();
    halves.process(actual.logits.matrix(), actual.outputs());
    space.fence("tokkos::test::process");
    CHECK(actual == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("a step may be prepared while the one before it is in flight", "[engine]",
                        ExecutionSpaces) {
  const TestType space;
  constexpr std::size_t steps = 12;
  std::vector<std::unique_ptr<RandomStep>> all;
  std::vector<Views<TestType>> expected, actual;
  LogitProcessor<TestType> at_once(space, 60, vocabulary), halves(space, 60, vocabulary);
  for (std::size_t i = 0; i < steps; ++i) {
    all.push_back(make_truncated_step(vocabulary, 20 + i));
    const auto rows = static_cast<std::size_t>(all[i]->rows);
    expected.emplace_back(rows, i);
    actual.emplace_back(rows, i);
    at_once.process(expected[i].logits.matrix(), all[i]->step.requests(), expected[i].outputs());
    space.fence("tokkos::test::process");
  }
  // Nothing waits between the steps: a blob that is filled too early shows in an earlier one.
  for (std::size_t i = 0; i < steps; ++i) {
    halves.prepare(all[i]->rows, all[i]->step.requests());
    halves.process(actual[i].logits.matrix(), actual[i].outputs());
  }
  space.fence("tokkos::test::process");
  for (std::size_t i = 0; i < steps; ++i) {
    CAPTURE(i);
    CHECK(actual[i] == expected[i]);
  }
}

TEMPLATE_LIST_TEST_CASE("process without requests wants a prepared step of the same rows",
                        "[engine]", ExecutionSpaces) {
  const TestType space;
  const auto step = make_truncated_step(vocabulary, 31);
  const auto rows = static_cast<std::size_t>(step->rows);
  const Views<TestType> views(rows, 1), expected(rows, 1), fewer(rows - 1, 1);
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  CHECK(error_of([&] { processor.process(views.logits.matrix(), views.outputs()); }).field ==
        "prepare");
  processor.prepare(step->rows, step->step.requests());
  CHECK(error_of([&] { processor.process(fewer.logits.matrix(), fewer.outputs()); }).field ==
        "logits.extent");
  processor.process(views.logits.matrix(), views.outputs());  // it stayed prepared
  CHECK(error_of([&] { processor.process(views.logits.matrix(), views.outputs()); }).field ==
        "prepare");
  processor.process(expected.logits.matrix(), step->step.requests(), expected.outputs());
  space.fence("tokkos::test::process");
  CHECK(views == expected);
}

TEMPLATE_LIST_TEST_CASE("a refused prepare drops the step before it", "[engine]", ExecutionSpaces) {
  const TestType space;
  const auto step = make_truncated_step(vocabulary, 33);
  const Views<TestType> views(static_cast<std::size_t>(step->rows), 1);
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  processor.prepare(step->rows, step->step.requests());
  CHECK(error_of([&] { processor.prepare(61, step->step.requests()); }).field == "rows");
  CHECK(error_of([&] { processor.process(views.logits.matrix(), views.outputs()); }).field ==
        "prepare");
}

TEMPLATE_LIST_TEST_CASE("a warm step allocates nothing, fences nothing and uploads once",
                        "[engine]", ExecutionSpaces) {
  const TestType space;
  const auto step = make_truncated_step(vocabulary, 51);
  const auto rows = static_cast<std::size_t>(step->rows);
  const Views<TestType> views(rows, 1);
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  const auto run = [&] {
    processor.prepare(step->rows, step->step.requests());
    processor.process(views.logits.matrix(), views.outputs());
  };
  run();
  space.fence("tokkos::test::warm");
  const KokkosEvents events;
  run();
  CHECK(!events.launches().empty());
  for (const auto& allocation : events.allocations()) FAIL_CHECK("allocated " << allocation.label);
  for (const std::string& fence : events.fences()) FAIL_CHECK("fenced " << fence);
  CHECK(events.copies().size() == (Staging<TestType>::needs_copy ? 1u : 0u));
}

}  // namespace tokkos::test
