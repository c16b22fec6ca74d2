// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The Views that LogitProcessor::process writes: which it refuses, and what truncation keeps.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "engine/step_views.hpp"
#include "reference/truncation_reference.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

template <class ExecutionSpace>
using Views = StepViews<MemoryOf<ExecutionSpace>>;

constexpr std::int64_t vocabulary = step_vocabulary;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a step of no rows may have outputs that point somewhere", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const Views<TestType> views(2, 1);
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

TEMPLATE_LIST_TEST_CASE("requests without rows need no history and no uniforms", "[engine]",
                        ExecutionSpaces) {
  const TestType space;
  const std::vector<GenerationConfig> configs(2);
  const std::vector<SequenceState> states(2);
  const std::vector<std::int32_t> cum_num_token(3, 0);
  StepRequests requests;
  requests.generation_configs = configs;
  requests.sequence_states = states;
  requests.cum_num_token = cum_num_token;
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  CHECK_NOTHROW(processor.prepare(0, requests));
  CHECK(step_uniforms(requests, 0).empty());
  // One that has a row does need them.
  const std::vector<std::int32_t> one_row{0, 0, 1};
  requests.cum_num_token = one_row;
  CHECK(error_of([&] { processor.prepare(1, requests); }).field == "sequence_states[1].history");
}

TEMPLATE_LIST_TEST_CASE("outputs that overlap or lack what they need are refused", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const auto step = make_truncated_step(vocabulary, 32);
  const auto rows = static_cast<std::size_t>(step->rows);
  const Views<TestType> views(rows, 1);
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
  lists.top_logprobs = {};
  CHECK(refused(lists) == "top_logprobs.extent");
  CHECK(views.logits.values() == Views<TestType>::values(rows, 1));
}

TEMPLATE_LIST_TEST_CASE("Views of elements without memory are refused", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const auto step = make_truncated_step(vocabulary, 34);
  const auto rows = static_cast<std::size_t>(step->rows);
  const Views<TestType> views(rows, 1);
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
  CHECK(views.logits.values() == Views<TestType>::values(rows, 1));
}

TEMPLATE_LIST_TEST_CASE("either of two probabilities may take the place of the logits", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const auto step = make_truncated_step(vocabulary, 35);
  const auto rows = static_cast<std::size_t>(step->rows);
  LogitProcessor<TestType> processor(space, 60, vocabulary);
  const auto both = [&](const Views<TestType>& views, const Matrix<float, Space>& whole,
                        const Matrix<float, Space>& truncated) {
    StepOutputs<Space> outputs;
    outputs.probabilities = whole;
    outputs.truncated_probabilities = truncated;
    processor.process(views.logits.matrix(), step->step.requests(), outputs);
    space.fence("tokkos::test::both");
  };
  Views<TestType> apart(rows, 1), first(rows, 1), second(rows, 1);
  both(apart, apart.probabilities.matrix(), apart.truncated.matrix());
  both(first, first.logits.matrix(), first.truncated.matrix());
  both(second, second.probabilities.matrix(), second.logits.matrix());
  const auto whole = apart.probabilities.values(), truncated = apart.truncated.values();
  CHECK(whole != truncated);
  CHECK(first.logits.values() == whole);
  CHECK(first.truncated.values() == truncated);
  CHECK(second.probabilities.values() == whole);
  CHECK(second.logits.values() == truncated);
}

TEMPLATE_LIST_TEST_CASE("truncated outputs keep what the definition keeps", "[engine]",
                        ExecutionSpaces) {
  const TestType space;
  const ReferenceLimits limits[] = {{1, 1.0f, 0.0f}, {40, 1.0f, 0.0f},   {0, 0.5f, 0.0f},
                                    {0, 1.0f, 0.1f}, {100, 0.7f, 0.05f}, {0, 1.0f, 0.0f}};
  constexpr std::size_t rows = 6;
  const std::vector<float> values = Views<TestType>::values(rows, 40);
  OwnedStep step;
  for (const ReferenceLimits& limit : limits) {
    GenerationConfig config;
    config.temperature = 0.75f;
    config.top_k = limit.top_k;
    config.top_p = limit.top_p;
    config.min_p = limit.min_p;
    step.add(config);
  }
  const Views<TestType> views(rows, 40);
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

}  // namespace tokkos::test
