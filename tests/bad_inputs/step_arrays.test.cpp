// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Arrays of a step that do not fit each other, and draft trees that are none.
#include <tokkos/core/error.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/step_bench.hpp"

namespace tokkos::test {
namespace {

constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();

}  // namespace

TEMPLATE_LIST_TEST_CASE("arrays have one entry for each request, and one for each of its rows",
                        "[row-31]", ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const std::size_t size : {0, 2, 4}) {
    const std::string value = std::to_string(size);
    bench.refuses({"sequence_states.size", {}, value},
                  [=](OwnedStep& s) { s.states.resize(size); });
    bench.refuses({"draft_trees.size", {}, value}, [=](OwnedStep& s) { s.trees->resize(size); });
    bench.refuses({"draft_token_indices.size", {}, value},
                  [=](OwnedStep& s) { s.indices->resize(size); });
  }
  for (const std::size_t size : {1, 2, 4}) {
    bench.refuses({"request_ids.size", {}, std::to_string(size)},
                  [=](OwnedStep& s) { s.ids.resize(size); });
  }
  for (const std::size_t size : {0, 3, 5}) {
    const std::string value = std::to_string(size);
    bench.refuses({"draft_token_indices[1].size", {}, value},
                  [=](OwnedStep& s) { s.indices->at(1).resize(size, -1); });
    bench.refuses({"draft_token_indices[2].size", {}, value},
                  [=](OwnedStep& s) { s.indices->at(2).resize(size, -1); });
  }
  for (const std::size_t size : {0, 2, 4}) {
    bench.refuses({"draft_trees[1].parents.size", {}, std::to_string(size)},
                  [=](OwnedStep& s) { s.trees->at(1).parents.resize(size, 0); });
  }
  bench.refuses({"generation_configs.size", {}, "3"},
                [](OwnedStep& s) { s.cum_num_token.reset(); });
}

TEMPLATE_LIST_TEST_CASE("cum_num_token rises from 0 to the number of rows", "[row-52]",
                        ExecutionSpaces) {
  StepBench<TestType> bench;
  const auto cum = [](std::size_t place, std::int32_t value) {
    return [=](OwnedStep& s) { s.cum_num_token->at(place) = value; };
  };
  for (const std::int32_t first : {1, -1, largest, smallest}) {
    bench.refuses({"cum_num_token", 0, to_text(first)}, cum(0, first));
  }
  for (const std::int32_t last : {6, 8, largest}) {
    bench.refuses({"cum_num_token", 3, to_text(last)}, cum(3, last));
  }
  for (const std::int32_t falling : {-1, -5, smallest}) {
    bench.refuses({"cum_num_token", 1, to_text(falling)}, cum(1, falling));
  }
  bench.refuses({"cum_num_token", 2, "0"}, cum(2, 0));
  bench.refuses({"cum_num_token", 3, "7"}, cum(2, 8));
  bench.refuses({"cum_num_token.size", {}, "3"}, [](OwnedStep& s) { s.cum_num_token->pop_back(); });
  bench.refuses({"cum_num_token.size", {}, "5"},
                [](OwnedStep& s) { s.cum_num_token->push_back(7); });
  bench.refuses({"cum_num_token.size", {}, "0"}, [](OwnedStep& s) { s.cum_num_token->clear(); });
}

TEMPLATE_LIST_TEST_CASE("draft tokens of a step lie in the vocabulary", "[row-40]",
                        ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const TokenId token : {-1, 100, 101, largest, smallest}) {
    bench.refuses({"draft_trees[1].token_ids", 2, to_text(token)},
                  [=](OwnedStep& s) { s.trees->at(1).token_ids[2] = token; });
  }
}

TEMPLATE_LIST_TEST_CASE("parents and rows of a step's drafts are nodes of their tree", "[row-44]",
                        ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const std::int32_t node : {-2, 3, 4, largest, smallest}) {
    bench.refuses({"draft_trees[1].parents", 1, to_text(node)},
                  [=](OwnedStep& s) { s.trees->at(1).parents[1] = node; });
    bench.refuses({"draft_token_indices[1]", 3, to_text(node)},
                  [=](OwnedStep& s) { s.indices->at(1)[3] = node; });
  }
  bench.refuses({"draft_token_indices[0]", 0, "0"}, [](OwnedStep& s) { s.indices->at(0)[0] = 0; });
}

TEMPLATE_LIST_TEST_CASE("a step's drafts are refused with a cycle", "[row-45]", ExecutionSpaces) {
  StepBench<TestType> bench;
  using Parents = std::vector<std::int32_t>;
  const auto parents = [](const Parents& p) {
    return [=](OwnedStep& s) { s.trees->at(1).parents = p; };
  };
  bench.refuses({"draft_trees[1].parents", 0, "0"}, parents({0, -1, -1}));
  bench.refuses({"draft_trees[1].parents", 0, "1"}, parents({1, 0, -1}));
  bench.refuses({"draft_trees[1].parents", 0, "2"}, parents({2, 0, 1}));
  bench.refuses({"draft_trees[1].parents", 1, "2"}, parents({-1, 2, 1}));
}

TEMPLATE_LIST_TEST_CASE("more rows than a processor was made for are refused with the limit",
                        "[row-55]", ExecutionSpaces) {
  StepBench<TestType> bench;
  for (const std::size_t rows : {std::size_t{13}, std::size_t{14}, std::size_t{40}}) {
    OwnedStep step;
    for (std::size_t i = 0; i < rows; ++i) step.add({});
    BenchViews<MemoryOf<TestType>> views(std::vector<float>(rows * 100, 0.5f));
    const Bits untouched = views.bits();
    const Blame blame{"logits.extent", 0, std::to_string(rows)};
    auto& processor = bench.processor();
    const StepRequests requests = step.requests();
    const auto logits = views.logits.matrix();
    expect_refusal(blame, [&] { processor.inplace_update_logits(logits, requests); });
    expect_refusal(blame, [&] {
      processor.compute_probs_from_logits(logits, requests, views.probabilities.matrix());
    });
    expect_refusal(blame, [&] { processor.process(logits, requests, views.outputs()); });
    expect_refusal({"rows", {}, std::to_string(rows)},
                   [&] { processor.prepare(static_cast<std::int64_t>(rows), requests); });
    expect_refusal(blame, [&] {
      bench.sampler().sample_from_logits(logits, requests, views.tokens.vector());
    });
    bench.space().fence("tokkos::test::refused");
    CHECK(views.bits() == untouched);
    const Complaint complaint =
        error_of([&] { processor.inplace_update_logits(logits, requests); });
    CHECK(complaint.expected.find("12") != std::string::npos);
    bench.works();
  }
}

TEMPLATE_LIST_TEST_CASE("uniforms from the host lie in 0 to below 1", "[row-38]", ExecutionSpaces) {
  StepBench<TestType> bench;
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  for (const float u :
       {1.0f, -0x1p-149f, -1.0f, 2.0f, not_a_number, std::numeric_limits<float>::infinity()}) {
    std::vector<float> uniforms(ThreeRequests::rows, 0.5f);
    uniforms[4] = u;
    const Blame blame{"uniforms", 4, to_text(u)};
    using Views = BenchViews<MemoryOf<TestType>>;
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      bench.processor().process(v.logits.matrix(), r, v.outputs(), {.uniforms = uniforms});
    });
    bench.refuses_call(blame, [&](Views&, const StepRequests& r) {
      bench.processor().prepare(ThreeRequests::rows, r, {.uniforms = uniforms});
    });
    bench.refuses_call(blame, [&](Views& v, const StepRequests& r) {
      bench.sampler().sample_from_logits(v.logits.matrix(), r, v.tokens.vector(), uniforms,
                                         v.status.vector());
    });
    bench.refuses_call(blame, [&](Views& v, const StepRequests&) {
      bench.sampler().sample_from_probabilities(v.probabilities.matrix(), uniforms,
                                                v.tokens.vector(), v.status.vector());
    });
  }
}

}  // namespace tokkos::test
