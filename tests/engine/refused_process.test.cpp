// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A step that is prepared, and another one that process is given at once and refuses: what is
// prepared stays so, whatever the refusal.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "engine/step_views.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = step_vocabulary;

/// What process is given, to be spoiled: every request of the step has its own grammar.
template <class Space>
struct Given {
  Given() : step(make_random_step_with_histories(vocabulary, vocabulary, 71)), grammar(3, 900) {
    step.step.states[1].mask = &grammar;
    for (std::string& id : step.step.ids) id = "refused " + id;
  }
  StepRequests requests() const {
    StepRequests all = step.step.requests();
    if (hook) all.edit_hook = &hook;
    return all;
  }
  RandomStep step;
  ScriptedGrammar grammar;
  EditHook hook;
  std::vector<float> uniforms;
  StepOutputs<Space> outputs;
};

template <class Space>
struct Refusal {
  const char* name;
  std::function<void(Given<Space>&)> spoil;
};

template <class Space>
std::vector<Refusal<Space>> refusals() {
  return {
      {"a temperature below 0", [](auto& g) { g.step.step.configs[1].temperature = -1.0f; }},
      {"a bias of a token that is none",
       [](auto& g) {
         g.step.step.configs[0].logit_bias = {{vocabulary, 1.0}};
       }},
      {"no states", [](auto& g) { g.step.step.states.clear(); }},
      {"neither ids nor stream numbers", [](auto& g) { g.step.step.ids.clear(); }},
      {"a uniform of 1", [](auto& g) { g.uniforms.assign(g.step.rows, 1.0f); }},
      {"outputs of fewer rows", [](auto& g) { g.outputs.log_sum_exp = g.outputs.logprobs = {}; }},
      {"one View twice", [](auto& g) { g.outputs.row_status = g.outputs.tokens; }},
      {"an edit hook that throws",
       [](auto& g) { g.hook = [](tokkos::RowEdits&) { throw std::runtime_error("as told"); }; }},
      {"an edit hook that biases by NaN",
       [](auto& g) {
         g.hook = [](tokkos::RowEdits& edits) {
           edits.add_bias(1, std::numeric_limits<double>::quiet_NaN());
         };
       }},
      {"a matcher that throws", [](auto& g) { g.grammar.throw_at(0); }}};
}

/// Keeps whose stages it was told of.
class Names : public EventTraceRecorder {
 public:
  void begin(std::string_view, std::span<const std::string> ids) override {
    last.assign(ids.begin(), ids.end());
  }
  void end(std::string_view, std::span<const std::string>) override {}
  std::vector<std::string> last;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a refused process of another step leaves what is prepared prepared",
                        "[engine]", ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const TestType space;
  const auto prepared = make_truncated_step(vocabulary, 72);
  const auto rows = static_cast<std::size_t>(prepared->rows);
  const StepViews<Space> expected(rows, 1);
  LogitProcessor<TestType> alone(space, 60, vocabulary);
  alone.process(expected.logits.matrix(), prepared->step.requests(), expected.outputs());
  Names names;
  LogitProcessor<TestType> processor(space, 60, vocabulary, {}, &names);
  for (const Refusal<Space>& refusal : refusals<Space>()) {
    CAPTURE(refusal.name);
    Given<Space> given;
    const auto refused_rows = static_cast<std::size_t>(given.step.rows);
    const StepViews<Space> actual(rows, 1), refused(refused_rows, 2);
    const StepViews<Space> untouched(refused_rows, 2);
    given.outputs = refused.outputs();
    processor.prepare(prepared->rows, prepared->step.requests());
    refusal.spoil(given);
    if (given.outputs.logprobs.data() == nullptr) {
      given.outputs.logprobs = actual.outputs().logprobs;
      REQUIRE(rows != refused_rows);
    }
    CHECK_THROWS(processor.process(refused.logits.matrix(), given.requests(), given.outputs,
                                   {.uniforms = given.uniforms}));
    processor.process(actual.logits.matrix(), actual.outputs());
    space.fence("tokkos::test::process");
    CHECK(actual == expected);
    CHECK(refused == untouched);
    CHECK(names.last == prepared->step.ids);
    CHECK(error_of([&] { processor.process(actual.logits.matrix(), actual.outputs()); }).field ==
          "prepare");
  }
}

TEMPLATE_LIST_TEST_CASE("process of another step drops what is prepared", "[engine]",
                        ExecutionSpaces) {
  using Space = MemoryOf<TestType>;
  const auto prepared = make_truncated_step(vocabulary, 72);
  const Given<Space> given;
  const StepViews<Space> views(static_cast<std::size_t>(prepared->rows), 1);
  const StepViews<Space> others(static_cast<std::size_t>(given.step.rows), 2);
  LogitProcessor<TestType> processor(TestType(), 60, vocabulary);
  processor.prepare(prepared->rows, prepared->step.requests());
  processor.process(others.logits.matrix(), given.requests(), others.outputs());
  CHECK(error_of([&] { processor.process(views.logits.matrix(), views.outputs()); }).field ==
        "prepare");
}

}  // namespace tokkos::test
