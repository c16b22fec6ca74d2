// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/lm_head/lm_head_processor.hpp>

#include "backends.hpp"
#include "bad_inputs/refusal.hpp"
#include "lm_head/processed_step.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tokkos::test;

class Nobody : public std::runtime_error {
 public:
  Nobody() : std::runtime_error("nobody") {}
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("an LM head's processor refuses what it cannot do and writes nothing",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Memory = typename OnSpace::memory_space;
  using Outputs = tokkos::LmHeadOutputs<Memory>;
  RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary, 2);
  step.step.configs[1].temperature = 0.7f;  // a greedy row has no limits
  int hook_calls = 0;
  const tokkos::EditHook hook = [&](tokkos::RowEdits&) { ++hook_calls; };
  const auto requests = [&] {
    tokkos::StepRequests all = step.step.requests();
    all.edit_hook = &hook;
    return all;
  };
  const Snapshot before(step);
  const DeviceHead<OnSpace> device(head_of(step));
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  const HeadViews<Memory> results(static_cast<std::size_t>(step.rows));
  const Bits unwritten = results.bits();
  std::vector<float> uniforms(static_cast<std::size_t>(step.rows), 0.5f);

  struct Change {
    Blame blame;
    std::function<void(OwnedStep&, Outputs&, std::vector<float>&)> make;
  };
  const auto config = [](float tokkos::GenerationConfig::*field, float value) {
    return [=](OwnedStep& own, Outputs&, std::vector<float>&) { own.configs[1].*field = value; };
  };
  using Config = tokkos::GenerationConfig;
  std::vector<Change> changes = {
      {{"outputs.uniforms", {}, "given"},
       [&](OwnedStep&, Outputs& out, std::vector<float>&) {
         out.uniforms = device.outputs().uniforms;
       }},
      {{"uniforms.size", {}, std::to_string(step.rows - 1)},
       [](OwnedStep&, Outputs&, std::vector<float>& u) { u.pop_back(); }},
      {{"tokens.extent", 0, std::to_string(step.rows - 1)},
       [](OwnedStep&, Outputs& out, std::vector<float>&) {
         out.tokens = tokkos::vector_of<tokkos::TokenId, Memory>(out.tokens.data(),
                                                                 out.tokens.extent(0) - 1);
       }},
      {{"tokens", {}, "left out"},
       [](OwnedStep&, Outputs& out, std::vector<float>&) { out.tokens = {}; }},
      {{"tokens.data", {}, "null"},
       [](OwnedStep&, Outputs& out, std::vector<float>&) {
         out.tokens = tokkos::vector_of<tokkos::TokenId, Memory>(nullptr, out.tokens.extent(0));
       }},
      {{"log_sum_exp", {}, "memory that overlaps hidden"},
       [&](OwnedStep&, Outputs& out, std::vector<float>&) {
         out.log_sum_exp = tokkos::vector_of<float, Memory>(
             const_cast<float*>(device.hidden().data()), out.tokens.extent(0));
       }},
  };
  for (const int k : {1, 40, 8999}) {
    changes.push_back(
        {{"generation_configs[1].top_k", {}, std::to_string(k)},
         [=](OwnedStep& own, Outputs&, std::vector<float>&) { own.configs[1].top_k = k; }});
  }
  for (const float p : {0.1f, 0.5f, 0.999f}) {
    const std::string text = tokkos::to_text(p);
    changes.push_back({{"generation_configs[1].top_p", {}, text}, config(&Config::top_p, p)});
    changes.push_back({{"generation_configs[1].min_p", {}, text}, config(&Config::min_p, p)});
  }
  for (const float t : {-1.0f, -0.5f, std::numeric_limits<float>::quiet_NaN()}) {
    changes.push_back({{"generation_configs[1].temperature", {}, tokkos::to_text(t)},
                       config(&Config::temperature, t)});
  }
  for (const int ties : {-1, 2, 9}) {
    changes.push_back(
        {{"ties", {}, std::to_string(ties)}, [=](OwnedStep&, Outputs& out, std::vector<float>&) {
           out.ties = static_cast<tokkos::GreedyTies>(ties);
         }});
  }
  for (const auto& [blame, change] : changes) {
    const OwnedStep kept = step.step;
    Outputs outputs = results.of_head();
    std::vector<float> given = uniforms;
    change(step.step, outputs, given);
    for (ScriptedGrammar& grammar : step.grammars) grammar.throw_at(-1);  // counts from 0
    expect_refusal(blame, [&] { processor.process(device.hidden(), requests(), outputs, given); });
    step.step.configs = kept.configs;
    CHECK(hook_calls == 0);
    for (const ScriptedGrammar& grammar : step.grammars) CHECK(grammar.calls() == 0);
    TestType().fence("tokkos::test::refused");
    CHECK(results.bits() == unwritten);
    CHECK(Snapshot(step) == before);
  }
  // Hidden states of other rows or another length, and more of them than the head was made for.
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> wrong("wrong", step.rows, head_size + 1);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> more("more", step.rows + 1, head_size);
  expect_refusal({"hidden.extent", 1, std::to_string(head_size + 1)},
                 [&] { processor.process(wrong, step.step.requests(), results.of_head()); });
  expect_refusal({"hidden.extent", 0, std::to_string(step.rows + 1)},
                 [&] { processor.process(more, step.step.requests(), results.of_head()); });
  CHECK(results.bits() == unwritten);
  processor.process(device.hidden(), step.step.requests(), results.of_head());
  TestType().fence("tokkos::test::processor");
  CHECK(results.bits() == by_rows(device, step, step.step.requests()));
}

TEMPLATE_LIST_TEST_CASE("a hook that throws leaves an LM head's processor as it was", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  const RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary, 7);
  const Snapshot before(step);
  const DeviceHead<OnSpace> device(head_of(step));
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> first(head);
  tokkos::LmHeadProcessor<TestType, float> processor = std::move(first);
  const HeadViews<typename OnSpace::memory_space> results(static_cast<std::size_t>(step.rows));
  const Bits unwritten = results.bits();
  tokkos::StepRequests requests = step.step.requests();
  tokkos::EditHook hook = [](tokkos::RowEdits& row) {
    if (row.row() == 2) throw Nobody();
  };
  requests.edit_hook = &hook;
  CHECK_THROWS_AS(processor.process(device.hidden(), requests, results.of_head()), Nobody);
  hook = [&](tokkos::RowEdits&) {
    processor.process(device.hidden(), step.step.requests(), results.of_head());
  };
  expect_refusal({"LmHeadProcessor", {}, "called by a hook or mask of its own call"},
                 [&] { processor.process(device.hidden(), requests, results.of_head()); });
  CHECK(results.bits() == unwritten);
  CHECK(Snapshot(step) == before);
  requests.edit_hook = nullptr;
  processor.process(device.hidden(), requests, results.of_head());
  TestType().fence("tokkos::test::processor");
  CHECK(results.bits() == by_rows(device, step, requests));
  CHECK(first.staging_capacity() == 0);
  CHECK(error_of([&] { first.process(device.hidden(), requests, results.of_head()); }).field ==
        "LmHeadProcessor");
}

TEMPLATE_LIST_TEST_CASE("an LM head's processor takes as many edits as it is told", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary, 3);
  for (tokkos::GenerationConfig& config : step.step.configs) {
    config = {.temperature = 0.7f};
    config.logit_bias = {{1, 1.0}, {2, -1.0}, {8999, 0.5}};
  }
  const std::int64_t edits = 3 * static_cast<std::int64_t>(step.rows);
  const DeviceHead<OnSpace> device(head_of(step));
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  const HeadViews<typename OnSpace::memory_space> results(static_cast<std::size_t>(step.rows));
  const Bits unwritten = results.bits();
  for (const std::int64_t bad :
       {std::int64_t{-1}, std::int64_t{-9}, std::numeric_limits<std::int64_t>::min()}) {
    expect_refusal({"max_edits", {}, std::to_string(bad)}, [&] { processor.set_max_edits(bad); });
  }
  for (const auto& [most, count] :
       {std::pair{edits - 1, edits}, {edits - 4, edits - 3}, {0l, 3l}}) {
    processor.set_max_edits(most);
    expect_refusal({"edits", {}, std::to_string(count)}, [&] {
      processor.process(device.hidden(), step.step.requests(), results.of_head());
    });
    CHECK(results.bits() == unwritten);
  }
  processor.set_max_edits(edits);
  processor.process(device.hidden(), step.step.requests(), results.of_head());
  TestType().fence("tokkos::test::processor");
  CHECK(results.bits() == by_rows(device, step, step.step.requests()));
  const auto taken = std::move(processor);
  CHECK(error_of([&] { processor.set_max_edits(1); }).field == "LmHeadProcessor");
}

TEMPLATE_LIST_TEST_CASE("an LM head's processor refuses a head that was moved from", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  const RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary, 1);
  const DeviceHead<OnSpace> device(head_of(step));
  auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  const auto other = std::move(head);
  const HeadViews<typename OnSpace::memory_space> results(static_cast<std::size_t>(step.rows));
  const Bits unwritten = results.bits();
  const Blame blame{"Kokkos", {}, "finalized, or the LmHead was moved from"};
  expect_refusal(
      blame, [&] { processor.process(device.hidden(), step.step.requests(), results.of_head()); });
  expect_refusal(blame, [&] { tokkos::LmHeadProcessor<TestType, float> late(head); });
  CHECK(results.bits() == unwritten);
}

TEMPLATE_LIST_TEST_CASE("an LM head's processor draws by Philox for named requests alone",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  const RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary, 1);
  const DeviceHead<OnSpace> device(head_of(step));
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  const HeadViews<typename OnSpace::memory_space> results(static_cast<std::size_t>(step.rows));
  const Bits unwritten = results.bits();
  tokkos::StepRequests requests = step.step.requests();
  requests.request_ids = {};
  expect_refusal({"request_ids.size", {}, "0"},
                 [&] { processor.process(device.hidden(), requests, results.of_head()); });
  CHECK(results.bits() == unwritten);
}
