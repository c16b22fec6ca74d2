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
    tokkos::LogitProcessor<Space> of_rows(Space(), step.rows, head_vocabulary, step.active);
    of_rows.prepare(step.rows, requests);
    CHECK(processor.staged_bytes() == of_rows.staged_bytes());
    CHECK(processor.staging_capacity() == of_rows.staging_capacity());
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

TEMPLATE_LIST_TEST_CASE("an LM head's processor scores without drawing", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary, 2);
  const DeviceHead<OnSpace> device(head_of(step));
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  const HeadViews<typename OnSpace::memory_space> all(static_cast<std::size_t>(step.rows));
  const HeadViews<typename OnSpace::memory_space> scored(static_cast<std::size_t>(step.rows));
  processor.process(device.hidden(), step.step.requests(), all.of_head());
  tokkos::StepRequests requests = step.step.requests();
  requests.request_ids = {};  // nothing is drawn
  const auto lists = scored.of_head();
  processor.process(device.hidden(), requests,
                    {.log_sum_exp = lists.log_sum_exp,
                     .top_tokens = lists.top_tokens,
                     .top_logprobs = lists.top_logprobs,
                     .row_status = lists.row_status});
  const std::vector<float> uniforms(static_cast<std::size_t>(step.rows), 0.5f);
  processor.process(device.hidden(), requests, {.log_sum_exp = lists.log_sum_exp}, uniforms);
  TestType().fence("tokkos::test::scored");
  CHECK(scored.tokens.values() == std::vector<tokkos::TokenId>(scored.tokens.values().size()));
  CHECK(scored.top_tokens.values() == all.top_tokens.values());
  CHECK(scored.status.values() == all.status.values());
  Bits sums, expected;
  append(sums, scored.log_sum_exp.values());
  append(sums, scored.top_logprobs.values());
  append(expected, all.log_sum_exp.values());
  append(expected, all.top_logprobs.values());
  CHECK(sums == expected);
}

TEMPLATE_LIST_TEST_CASE("limits that change nothing pass through an LM head's processor",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary - 500, 1);
  REQUIRE(step.step.configs.size() >= 3);
  auto& configs = step.step.configs;
  configs[0].temperature = 0.0f;
  configs[0].top_k = 3;
  configs[0].top_p = 0.5f;
  configs[0].min_p = 0.2f;
  configs[1].top_k = static_cast<std::int32_t>(head_vocabulary - 500);
  configs[2].top_k = 1 << 30;
  const DeviceHead<OnSpace> device(head_of(step));
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  const HeadViews<typename OnSpace::memory_space> results(static_cast<std::size_t>(step.rows));
  processor.process(device.hidden(), step.step.requests(), results.of_head());
  TestType().fence("tokkos::test::processor");
  CHECK(results.bits() == by_rows(device, step, step.step.requests()));
}

TEST_CASE("whole rows are for requests that truncate", "[lm_head]") {
  tokkos::GenerationConfig config;
  CHECK(!tokkos::needs_whole_row(config, 100));
  for (const std::int32_t k : {1, 50, 99}) {
    config.top_k = k;
    CHECK(tokkos::needs_whole_row(config, 100));
    CHECK(!tokkos::needs_whole_row(config, k));
  }
  config.temperature = 1e-5f;
  CHECK(!tokkos::needs_whole_row(config, 100));
  config = {};
  config.top_p = 0.999f;
  CHECK(tokkos::needs_whole_row(config, 100));
  config = {};
  config.min_p = 1e-45f;
  CHECK(tokkos::needs_whole_row(config, 100));
}

TEMPLATE_LIST_TEST_CASE("a batch may be split between an LM head's processor and whole rows",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Memory = typename OnSpace::memory_space;
  constexpr std::int64_t count = 6;
  RandomStep all, truncated, others;
  std::vector<std::size_t> of_others, of_truncated;
  for (std::size_t i = 0; i < count; ++i) {
    tokkos::GenerationConfig config;
    config.seed = 7 + i;
    config.frequency_penalty = 0.25f;
    if (i % 3 != 0) config.top_p = 0.6f;
    tokkos::TokenHistory history({1, 2});
    history.commit(static_cast<tokkos::TokenId>(i));
    all.step.add(config, history);
    const bool whole = tokkos::needs_whole_row(config, head_vocabulary);
    RandomStep& part = whole ? truncated : others;
    part.step.add(config, history);
    part.step.ids.back() = all.step.ids.back();
    (whole ? of_truncated : of_others).push_back(i);
  }
  for (RandomStep* step : {&all, &truncated, &others}) {
    step->vocabulary = step->active = head_vocabulary;
    step->rows = static_cast<std::int64_t>(step->step.configs.size());
  }
  const HeadCase whole = head_of(all);
  const auto tokens_of = [](const HeadViews<Memory>& results) { return results.tokens.values(); };
  const auto rows_of = [&](const HeadCase& head, const RandomStep& step) {
    const DeviceHead<OnSpace> device(head);
    const HeadViews<Memory> results(static_cast<std::size_t>(step.rows));
    const Kokkos::View<float**, Kokkos::LayoutRight, Memory> logits("logits", step.rows,
                                                                    head_vocabulary);
    device.head().logits(device.hidden(), logits);
    tokkos::LogitProcessor<TestType> processor(TestType(), step.rows, head_vocabulary);
    processor.process(logits, step.step.requests(), results.of_rows());
    TestType().fence("tokkos::test::rows");
    return tokens_of(results);
  };
  const auto part_of = [&](const std::vector<std::size_t>& rows) {
    HeadCase part = whole;
    part.rows = static_cast<std::int64_t>(rows.size());
    part.hidden.clear();
    for (const std::size_t row : rows) {
      const auto from = whole.hidden.begin() + static_cast<std::ptrdiff_t>(row) * head_size;
      part.hidden.insert(part.hidden.end(), from, from + head_size);
    }
    part.uniforms.resize(rows.size());
    part.given.resize(rows.size());
    return part;
  };
  const std::vector<tokkos::TokenId> expected = rows_of(whole, all);
  const std::vector<tokkos::TokenId> cut = rows_of(part_of(of_truncated), truncated);
  const DeviceHead<OnSpace> device(part_of(of_others));
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  const HeadViews<Memory> results(of_others.size());
  processor.process(device.hidden(), others.step.requests(), results.of_head());
  TestType().fence("tokkos::test::processor");
  const std::vector<tokkos::TokenId> streamed = tokens_of(results);
  std::vector<tokkos::TokenId> joined(count);
  for (std::size_t i = 0; i < of_truncated.size(); ++i) joined[of_truncated[i]] = cut[i];
  for (std::size_t i = 0; i < of_others.size(); ++i) joined[of_others[i]] = streamed[i];
  CHECK(joined == expected);
}

TEMPLATE_LIST_TEST_CASE("a step of no rows is no step of an LM head's processor", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  using Memory = typename OnSpace::memory_space;
  const RandomStep step = make_random_step_with_histories(head_vocabulary, head_vocabulary, 1);
  const DeviceHead<OnSpace> device(head_of(step));
  const auto head = device.head();
  tokkos::LmHeadProcessor<TestType, float> processor(head);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> none("none", 0, head_size);
  const HeadViews<Memory> empty(0), results(static_cast<std::size_t>(step.rows));
  processor.process(none, {}, {});
  processor.process({}, {}, {});
  head.process({}, {});
  head.logits({}, {});
  processor.process(none, {}, empty.of_head());
  OwnedStep without_rows;  // a request of no rows
  without_rows.add({});
  without_rows.cum_num_token = {0, 0};
  processor.process(none, without_rows.requests(), empty.of_head());
  CHECK(empty.bits().empty());
  CHECK(empty.intact());
  processor.process(device.hidden(), step.step.requests(), results.of_head());
  TestType().fence("tokkos::test::processor");
  CHECK(results.bits() == by_rows(device, step, step.step.requests()));
}
