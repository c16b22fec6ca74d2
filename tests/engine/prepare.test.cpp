// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
// LogitProcessor in two halves: what is prepared while the model runs is what process does at once.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"
#include "reference/truncation_reference.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 4500;

/// The Views of one step, from logits that its seed names.
template <class Space>
struct Views {
  mutable Guarded<float, Space> logits, probabilities,
      truncated;  // read through a mirror of theirs
  mutable Guarded<TokenId, Space> tokens;
  mutable Guarded<float, Space> logprobs;
  mutable Guarded<std::int32_t, Space> status;

  static std::vector<float> values(std::size_t rows, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    return random_logits(rows * vocabulary, random, false);
  }

  Views(std::size_t rows, std::uint64_t seed)
      : logits(rows, vocabulary, 3, values(rows, seed)),
        probabilities(rows, vocabulary, 5, {}),
        truncated(rows, vocabulary, 1, {}),
        tokens(rows),
        logprobs(rows),
        status(rows) {}

  StepOutputs<Space> outputs() const {
    return {.probabilities = probabilities.matrix(),
            .tokens = tokens.vector(),
            .truncated_probabilities = truncated.matrix(),
            .logprobs = logprobs.vector(),
            .row_status = status.vector()};
  }

  bool operator==(const Views& other) const {
    return logits.values() == other.logits.values() && tokens.values() == other.tokens.values() &&
           probabilities.values() == other.probabilities.values() &&
           truncated.values() == other.truncated.values() &&
           logprobs.values() == other.logprobs.values() && status.values() == other.status.values();
  }
};

/// A random step of which every second request is truncated.
std::unique_ptr<RandomStep> truncated_step(std::uint64_t seed) {
  auto step =
      std::make_unique<RandomStep>(make_random_step_with_histories(vocabulary, vocabulary, seed));
  for (std::size_t i = 0; i < step->step.configs.size(); i += 2) {
    GenerationConfig& config = step->step.configs[i];
    config.top_k = static_cast<std::int32_t>(3 + 40 * i);
    config.top_p = 0.8f;
    config.min_p = i % 4 == 0 ? 0.01f : 0.0f;
  }
  return step;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a prepared step gives the bits of process, and its requests may be gone",
                        "[engine]", ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  LogitProcessor<TestType> at_once(space, 60, vocabulary), halves(space, 60, vocabulary);
  for (const std::uint64_t seed : {11u, 12u, 13u, 14u, 15u}) {  // both blobs, growing and shrinking
    auto step = truncated_step(seed);
    const auto rows = static_cast<std::size_t>(step->rows);
    REQUIRE(rows <= 60);
    const Views<Space> expected(rows, seed), actual(rows, seed);
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
  using Space = MemoryOf<TestType>;
  const TestType space;
  constexpr std::size_t steps = 12;
  std::vector<std::unique_ptr<RandomStep>> all;
  std::vector<Views<Space>> expected, actual;
  LogitProcessor<TestType> at_once(space, 60, vocabulary), halves(space, 60, vocabulary);
  for (std::size_t i = 0; i < steps; ++i) {
    all.push_back(truncated_step(20 + i));
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
  using Space = MemoryOf<TestType>;
  const TestType space;
  const auto step = truncated_step(31);
  const auto rows = static_cast<std::size_t>(step->rows);
  const Views<Space> views(rows, 1), expected(rows, 1), fewer(rows - 1, 1);
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

TEMPLATE_LIST_TEST_CASE("a step of no rows may have outputs that point somewhere", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const Views<Space> views(2, 1);
  const std::pair<int, int> none(0, 0);
  const Matrix<float, Space> logits = Kokkos::subview(views.logits.matrix(), none, Kokkos::ALL);
  StepOutputs<Space> outputs;
  outputs.tokens = Kokkos::subview(views.tokens.vector(), none);
  outputs.logprobs = Kokkos::subview(views.logprobs.vector(), none);
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  CHECK_NOTHROW(processor.process(logits, StepRequests{}, outputs));
  processor.prepare(0, {});
  CHECK_NOTHROW(processor.process(logits, outputs));
}

TEMPLATE_LIST_TEST_CASE("outputs that overlap or lack what they need are refused", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const auto step = truncated_step(32);
  const auto rows = static_cast<std::size_t>(step->rows);
  const Views<Space> views(rows, 1);
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  const auto refused = [&](const StepOutputs<Space>& outputs) {
    return error_of(
               [&] { processor.process(views.logits.matrix(), step->step.requests(), outputs); })
        .field;
  };
  StepOutputs<Space> same = views.outputs();
  same.truncated_probabilities = same.probabilities;
  CHECK(refused(same) == "probabilities");
  StepOutputs<Space> no_tokens = views.outputs();
  no_tokens.tokens = {};
  CHECK(refused(no_tokens) == "tokens");
  StepOutputs<Space> lists = views.outputs();
  const Kokkos::View<TokenId**, Kokkos::LayoutRight, Space> listed("tokkos::test::top", rows, 5);
  lists.top_tokens = listed;
  CHECK(refused(lists) == "top_logprobs.extent");
  CHECK(views.logits.values() == Views<Space>::values(rows, 1));
}

TEMPLATE_LIST_TEST_CASE("a refused prepare drops the step before it", "[engine]", ExecutionSpaces) {
  const TestType space;
  const auto step = truncated_step(33);
  const Views<MemoryOf<TestType>> views(static_cast<std::size_t>(step->rows), 1);
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  processor.prepare(step->rows, step->step.requests());
  CHECK(error_of([&] { processor.prepare(61, step->step.requests()); }).field == "rows");
  CHECK(error_of([&] { processor.process(views.logits.matrix(), views.outputs()); }).field ==
        "prepare");
}

TEMPLATE_LIST_TEST_CASE("Views of elements without memory are refused", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const auto step = truncated_step(34);
  const auto rows = static_cast<std::size_t>(step->rows);
  const Views<Space> views(rows, 1);
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  const Kokkos::LayoutStride shape(rows, vocabulary, vocabulary, 1);
  const Matrix<float, Space> no_matrix(static_cast<float*>(nullptr), shape);
  const auto refused = [&](const Matrix<float, Space>& logits, const StepOutputs<Space>& outputs) {
    return error_of([&] { processor.process(logits, step->step.requests(), outputs); }).field;
  };
  CHECK(refused(no_matrix, views.outputs()) == "logits.data");
  StepOutputs<Space> outputs = views.outputs();
  outputs.probabilities = no_matrix;
  CHECK(refused(views.logits.matrix(), outputs) == "probabilities.data");
  outputs = views.outputs();
  outputs.row_status = Vector<std::int32_t, Space>(static_cast<std::int32_t*>(nullptr),
                                                   Kokkos::LayoutStride(rows, 1));
  CHECK(refused(views.logits.matrix(), outputs) == "row_status.data");
  CHECK(views.logits.values() == Views<Space>::values(rows, 1));
}

TEMPLATE_LIST_TEST_CASE("truncated outputs keep what the definition keeps", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const ReferenceLimits limits[] = {{1, 1.0f, 0.0f}, {40, 1.0f, 0.0f},   {0, 0.5f, 0.0f},
                                    {0, 1.0f, 0.1f}, {100, 0.7f, 0.05f}, {0, 1.0f, 0.0f}};
  constexpr std::size_t rows = 6;
  const std::vector<float> values = Views<Space>::values(rows, 40);
  OwnedStep step;
  for (const ReferenceLimits& limit : limits) {
    GenerationConfig config;
    config.temperature = 0.75f;
    config.top_k = limit.top_k;
    config.top_p = limit.top_p;
    config.min_p = limit.min_p;
    step.add(config);
  }
  const Views<Space> views(rows, 40);
  LogitProcessor<TestType> processor(space, rows, vocabulary);
  processor.process(views.logits.matrix(), step.requests(), views.outputs());
  space.fence("tokkos::test::process");
  const auto truncated = views.truncated.values();
  const auto tokens = views.tokens.values();
  const auto logprobs = views.logprobs.values();
  for (std::size_t i = 0; i < rows; ++i) {
    CAPTURE(i);
    const std::span<const float> row(values.data() + i * vocabulary, vocabulary);
    ReferenceRow reference;
    reference.logits = row;
    reference.active = vocabulary;
    reference.temperature = 0.75f;
    const SortedRow sorted(reference);
    const ReferenceCut cut = sorted.cut(limits[i]);
    const auto kept = static_cast<std::size_t>(cut.count < 0 ? sorted.size() : cut.count);
    double largest = sorted.masses()[0], mass = 0.0, worst = 0.0, rest = 0.0;
    for (std::size_t j = 0; j < kept; ++j) mass += static_cast<double>(sorted.masses()[j]);
    for (std::size_t j = 0; j < sorted.tokens().size(); ++j) {
      const auto v = static_cast<std::size_t>(sorted.tokens()[j]);
      const double p = truncated[i * vocabulary + v];
      const double expected = j < kept ? static_cast<double>(sorted.masses()[j]) / mass : 0.0;
      worst = std::fmax(worst, std::fabs(p - expected));
      if (j >= kept) rest += p;
    }
    CHECK(largest > 0.0);
    CHECK(worst <= 1e-6);
    CHECK(rest == 0.0);
    REQUIRE(tokens[i] >= 0);
    const double drawn = truncated[i * vocabulary + static_cast<std::size_t>(tokens[i])];
    REQUIRE(drawn > 0.0);
    CHECK(std::fabs(logprobs[i] - std::log(drawn)) <= 1e-5);
  }
}

TEMPLATE_LIST_TEST_CASE("a warm step allocates nothing, fences nothing and uploads once",
                        "[engine]", ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const auto step = truncated_step(51);
  const auto rows = static_cast<std::size_t>(step->rows);
  const Views<Space> views(rows, 1);
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  const auto run = [&] {
    processor.prepare(step->rows, step->step.requests());
    processor.process(views.logits.matrix(), views.outputs());
  };
  run();
  run();  // the other blob
  space.fence("tokkos::test::warm");
  const KokkosEvents events;
  run();
  CHECK(!events.launches().empty());
  for (const auto& allocation : events.allocations()) FAIL_CHECK("allocated " << allocation.label);
  for (const std::string& fence : events.fences()) FAIL_CHECK("fenced " << fence);
  CHECK(events.copies().size() == (Staging<TestType>::needs_copy ? 1u : 0u));
}

}  // namespace tokkos::test
