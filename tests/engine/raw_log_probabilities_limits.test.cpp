// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What a step with raw log-probabilities refuses, and what it costs.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "engine/random_step.hpp"
#include "engine/raw_step_views.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {

TEMPLATE_LIST_TEST_CASE("raw outputs that cannot be had are refused, and nothing is written",
                        "[engine]", ExecutionSpaces) {
  using Float = tokkos::test::Backend<TestType, float>;
  using Memory = MemoryOf<TestType>;
  const auto values = stored_logits<float>(40, 5, false);
  const OwnedStep step = edited_tokens();
  const RawStepViews<Float> views(5, values);
  LogitProcessor<TestType> processor(TestType(), 5, 8);
  const LogitHook<TestType, float> none,
      hook = [](const TestType&, const Matrix<float, Memory>&) {};
  const auto refused = [&](const StepOutputs<Memory>& outputs, const auto& with) {
    return error_of([&] {
             processor.process(views.logits.matrix(), step.requests(), outputs, {}, with);
           })
        .field;
  };
  StepOutputs<Memory> outputs = views.with_raw();
  CHECK(refused(outputs, hook) == "raw_logprobs");
  outputs.tokens = {}, outputs.logprobs = {};
  CHECK(refused(outputs, none) == "tokens");
  outputs = views.with_raw();
  outputs.raw_top_logprobs = {};
  CHECK(refused(outputs, none) == "raw_top_logprobs.extent");
  outputs = views.with_raw();
  const Kokkos::View<TokenId**, Kokkos::LayoutRight, Memory> wide("tokkos::test::wide", 5, 129);
  outputs.raw_top_tokens = wide;
  CHECK(refused(outputs, none) == "raw_top_tokens.extent");
  outputs = views.with_raw();
  const Kokkos::LayoutStride places = outputs.raw_top_tokens.layout();
  outputs.raw_top_tokens = Matrix<TokenId, Memory>(nullptr, places);
  outputs.raw_top_logprobs = Matrix<float, Memory>(nullptr, places);
  CHECK(refused(outputs, none) == "raw_top_tokens.data");
  outputs = views.with_raw();
  const Kokkos::View<float*, Memory> fewer("tokkos::test::fewer", 4);
  outputs.raw_logprobs = fewer;
  CHECK(refused(outputs, none) == "raw_logprobs.extent");
  processor.prepare(5, step.requests());
  CHECK(error_of([&] { processor.process(views.logits.matrix(), views.with_raw(), hook); }).field ==
        "raw_logprobs");
  RawStepViews<Float> read = views;
  CHECK(read.logits.values() == values);
  CHECK_NOTHROW(processor.process(views.logits.matrix(), views.with_raw()));  // still prepared
}

TEMPLATE_LIST_TEST_CASE("a hook on the logits comes after the raw list", "[engine]",
                        ExecutionSpaces) {
  using Float = tokkos::test::Backend<TestType, float>;
  using Memory = MemoryOf<TestType>;
  const TestType space;
  const auto values = stored_logits<float>(40, 6, false);
  const OwnedStep step = edited_tokens();
  RawStepViews<Float> views(5, values), expected(5, values);
  LogitProcessor<TestType> processor(space, 5, 8);
  StepOutputs<Memory> outputs = views.with_raw();
  outputs.raw_logprobs = {};
  processor.process(views.logits.matrix(), step.requests(), outputs, {},
                    [](const TestType& instance, const Matrix<float, Memory>& logits) {
                      Kokkos::deep_copy(instance, logits, 1.0f);
                    });
  processor.process(expected.logits.matrix(), step.requests(), expected.with_raw());
  space.fence("tokkos::test::processed");
  CHECK(views.raw_top_tokens.values() == expected.raw_top_tokens.values());
  CHECK(views.raw_top_logprobs.values() == expected.raw_top_logprobs.values());
}

TEMPLATE_LIST_TEST_CASE(
    "a warm step with raw log-probabilities allocates, fences and copies no row", "[engine]",
    ExecutionSpaces) {
  using Float = tokkos::test::Backend<TestType, float>;
  const TestType space;
  const RandomStep step = make_random_step_with_histories(4500, 4500, 9);
  const auto rows = static_cast<std::size_t>(step.rows);
  const RawStepViews<Float> views(rows, stored_logits<float>(rows * 4500, 9, false));
  LogitProcessor<TestType> processor(space, step.rows, 4500);
  const auto run = [&](const StepOutputs<MemoryOf<TestType>>& outputs) {
    processor.process(views.logits.matrix(), step.step.requests(), outputs);
  };
  {
    const KokkosEvents cold;
    run(views.with_raw());
    CHECK(cold.largest_allocation() < rows * 4500 * sizeof(float) / 2);
  }
  run(views.with_raw());  // the other blob
  space.fence("tokkos::test::warm");
  std::size_t plain = 0;
  {
    const KokkosEvents events;
    run(views.plain());
    plain = events.launches().size();
  }
  const KokkosEvents events;
  run(views.with_raw());
  CHECK(events.allocations().empty());
  CHECK(events.fences().empty());
  CHECK(events.copies().size() == (Staging<TestType>::needs_copy ? 1u : 0u));
  CHECK(events.launches().size() <= plain + 6);  // measure, the list, save, two to score
  const auto count = [&](const char* label) {
    return std::ranges::count(events.launches(), label);
  };
  CHECK(count("tokkos::raw_log_probabilities::save") == 1);
  CHECK(count("tokkos::raw_log_probabilities::edited") == 1);
  CHECK(count("tokkos::top_log_probabilities::rows") == 1);
}

}  // namespace tokkos::test
