// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Steps with more biases and penalties than a processor was told to take.
#include <tokkos/core/error.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/refusal.hpp"
#include "bad_inputs/step_bench.hpp"

namespace tokkos::test {
namespace {

// Of ThreeRequests: two penalties of the first request; 2, 3, 4 and 4 of the second one's rows,
// whose drafts count; then two biases of the first request and one of each row of the third.
constexpr std::int64_t edits = 2 + 13 + 2 + 2;

/// A processor's limit, until it goes out of scope.
template <class Space>
class Limit {
 public:
  Limit(LogitProcessor<Space>& processor, std::int64_t most) : m_processor(processor) {
    m_processor.set_max_edits(most);
  }
  ~Limit() { m_processor.set_max_edits(std::numeric_limits<std::int64_t>::max()); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  LogitProcessor<Space>& m_processor;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("more edits than a processor is to take are refused with the limit",
                        "[row-08]", ExecutionSpaces) {
  StepBench<TestType> bench;
  LogitProcessor<TestType>& processor = bench.processor();
  struct Case {
    std::int64_t limit, count;
  };
  for (const auto& [limit, count] : {Case{edits - 1, edits}, Case{17, 18}, Case{16, 17},
                                     Case{14, 15}, Case{5, 7}, Case{1, 2}, Case{0, 2}}) {
    const Blame blame{"edits", {}, std::to_string(count)};
    const std::int64_t most = limit;
    bench.refuses_call(blame, [&](auto& views, const StepRequests& requests) {
      const Limit limited(processor, most);
      processor.inplace_update_logits(views.logits.matrix(), requests, views.status.vector());
    });
    bench.refuses_call(blame, [&](auto& views, const StepRequests& requests) {
      const Limit limited(processor, most);
      processor.process(views.logits.matrix(), requests, views.outputs());
    });
    bench.refuses_call(blame, [&](auto&, const StepRequests& requests) {
      const Limit limited(processor, most);
      processor.prepare(ThreeRequests::rows, requests);
    });
    const ThreeRequests good;
    BenchViews<MemoryOf<TestType>> views(good.logits());
    const Limit limited(processor, most);
    const Complaint complaint = error_of(
        [&] { processor.process(views.logits.matrix(), good.step.requests(), views.outputs()); });
    CHECK(complaint.expected == "at most max_edits = " + std::to_string(most) +
                                    " for all biases and penalties of a step");
  }
  processor.set_max_edits(edits);
  bench.works();
}

TEMPLATE_LIST_TEST_CASE("a token that is edited in two ways counts once", "[row-08]",
                        ExecutionSpaces) {
  OwnedStep step;
  TokenHistory history({1, 2});
  for (const TokenId token : {8, 9, 8}) history.commit(token);
  GenerationConfig config{.presence_penalty = 0.5f};  // 8 and 9
  config.logit_bias = {{3, 1.0}, {8, 1.0}};           // 3
  config.banned_token_ids = {3, 50};                  // 50
  config.min_tokens = 10;
  config.end_token_ids = {9, 20, 21};  // 20 and 21
  config.no_repeat_ngram_size = 2;     // 9 again: 8 is the last
  config.bad_words = {{20}, {30}};     // 30
  step.add(config, history);
  const EditHook hook = [](RowEdits& row) {
    for (const TokenId token : {30, 40, 41, 42}) row.add_bias(token, 1.0);
  };
  StepRequests requests = step.requests();
  requests.edit_hook = &hook;
  constexpr std::int64_t tokens = 10;  // 3, 8, 9, 20, 21, 30, 40, 41, 42, 50
  LogitProcessor<TestType> processor(TestType(), 4, 100);
  for (const std::int64_t most : {tokens - 1, tokens - 2}) {
    processor.set_max_edits(most);
    expect_refusal({"edits", {}, std::to_string(tokens)}, [&] { processor.prepare(1, requests); });
  }
  processor.set_max_edits(tokens);
  processor.prepare(1, requests);
}

TEMPLATE_LIST_TEST_CASE("a negative number of edits is no limit", "[row-08]", ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const std::int64_t bad :
       {std::int64_t{-1}, std::int64_t{-1000}, std::numeric_limits<std::int64_t>::min()}) {
    bench.refuses_call({"max_edits", {}, std::to_string(bad)},
                       [&](auto&, const StepRequests&) { bench.processor().set_max_edits(bad); });
  }
}

}  // namespace tokkos::test
