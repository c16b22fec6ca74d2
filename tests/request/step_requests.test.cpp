// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/step_requests.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "request/error_of.hpp"
#include "request/owned_step.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 50;
using Indices = std::vector<std::int32_t>;

TokenHistory history_of(std::vector<TokenId> prompt, const std::vector<TokenId>& generated) {
  TokenHistory history(std::move(prompt));
  for (const TokenId token : generated) history.commit(token);
  return history;
}

/// Three requests with 1, 3 and 2 rows; the second has a draft tree of two nodes.
OwnedStep good_step() {
  OwnedStep step;
  for (int i = 0; i < 3; ++i) step.add({}, history_of({1, 2}, {3, 4}));
  step.cum_num_token = {0, 1, 4, 6};
  step.trees = {{}, {{5, 6}, {-1, 0}}, {}};
  step.indices = {{-1}, {-1, 0, 1}, {-1, -1}};
  return step;
}

Complaint complaint_about(const OwnedStep& step, std::int64_t rows) {
  return error_of([&] { validate(step.requests(), rows, vocabulary); });
}

}  // namespace

TEST_CASE("a step says which rows belong to a request", "[request]") {
  OwnedStep step = good_step();
  const StepRequests requests = step.requests();
  CHECK_NOTHROW(validate(requests, 6, vocabulary));
  CHECK(requests.size() == 3);
  CHECK(requests.first_row(1) == 1);
  CHECK(requests.end_row(1) == 4);
  CHECK(requests.first_row(2) == 4);
  CHECK(requests.end_row(2) == 6);
  CHECK(requests.draft_node(1, 0) == -1);
  CHECK(requests.draft_node(1, 2) == 1);
  CHECK(requests.draft_node(2, 1) == -1);
}

TEST_CASE("a step without cum_num_token has one row a request, drafts or not", "[request]") {
  OwnedStep step = good_step();
  step.cum_num_token.reset();
  step.indices = {{-1}, {1}, {-1}};
  const StepRequests requests = step.requests();
  CHECK_NOTHROW(validate(requests, 3, vocabulary));
  CHECK(requests.first_row(2) == 2);
  CHECK(requests.end_row(2) == 3);
  CHECK(requests.draft_node(1, 0) == 1);
  step.trees.reset();
  step.indices.reset();
  CHECK_NOTHROW(validate(step.requests(), 3, vocabulary));
  CHECK(step.requests().draft_node(1, 0) == -1);
  CHECK_THROWS_AS(validate(step.requests(), 4, vocabulary), Error);
}

TEST_CASE("cum_num_token is allowed without drafts, and requests may have no rows", "[request]") {
  OwnedStep step = good_step();
  step.trees.reset();
  step.indices.reset();
  CHECK_NOTHROW(validate(step.requests(), 6, vocabulary));
  step.cum_num_token = {0, 0, 6, 6};
  CHECK_NOTHROW(validate(step.requests(), 6, vocabulary));
  CHECK_NOTHROW(validate(StepRequests{}, 0, vocabulary));
}

TEST_CASE("a step without histories, matchers and ids is legal", "[request]") {
  OwnedStep step = good_step();
  for (SequenceState& state : step.states) state.history = nullptr;
  step.ids.clear();
  CHECK_NOTHROW(validate(step.requests(), 6, vocabulary));
}

TEST_CASE("cum_num_token must rise from 0 to the number of rows", "[request]") {
  OwnedStep step = good_step();
  step.trees.reset();
  step.indices.reset();
  step.cum_num_token =
      GENERATE(Indices{1, 1, 4, 6}, Indices{-1, 1, 4, 6}, Indices{0, 1, 4, 5}, Indices{0, 1, 4, 7},
               Indices{0, 5, 4, 6}, Indices{0, 1, 7, 6}, Indices{0, -1, 4, 6},
               Indices{0, 1, std::numeric_limits<std::int32_t>::min(), 6});
  const Complaint complaint = complaint_about(step, 6);
  CHECK(complaint.names("cum_num_token"));
  CHECK(complaint.index.has_value());
}

TEST_CASE("the lengths of a step's arrays must fit each other", "[request]") {
  OwnedStep step = good_step();
  SECTION("states") {
    step.states.pop_back();
    CHECK(complaint_about(step, 6).names("sequence_states"));
  }
  SECTION("ids") {
    step.ids.pop_back();
    CHECK(complaint_about(step, 6).names("request_ids"));
  }
  SECTION("cum_num_token") {
    const Indices cum = GENERATE(Indices{0, 1, 6}, Indices{0, 1, 4, 6, 6}, Indices{});
    step.cum_num_token = cum;
    CHECK(complaint_about(step, 6).names("cum_num_token"));
  }
  SECTION("trees") {
    step.trees->pop_back();
    CHECK(complaint_about(step, 6).names("draft_trees"));
  }
  SECTION("indices") {
    step.indices->pop_back();
    CHECK(complaint_about(step, 6).names("draft_token_indices"));
  }
  SECTION("indices of a request") {
    step.indices->at(1) = {-1, 0};
    CHECK(complaint_about(step, 6).names("draft_token_indices"));
  }
}

TEST_CASE("draft trees and draft token indices come together", "[request]") {
  OwnedStep step = good_step();
  SECTION("trees alone") {
    step.indices.reset();
  }
  SECTION("indices alone") {
    step.trees.reset();
  }
  const Complaint complaint = complaint_about(step, 6);
  CHECK(complaint.names("draft_"));
}

TEST_CASE("draft token indices lie in their request's tree", "[request]") {
  const std::int32_t node = GENERATE(-2, 2, 100, std::numeric_limits<std::int32_t>::max());
  OwnedStep step = good_step();
  step.indices->at(1)[2] = node;
  const Complaint complaint = complaint_about(step, 6);
  CHECK(complaint.names("draft_token_indices"));
  CHECK(complaint.index.has_value());
  CHECK(complaint.value == to_text(node));
}

TEST_CASE("an index into an empty tree is refused", "[request]") {
  OwnedStep step = good_step();
  step.indices->at(2)[0] = 0;
  CHECK(complaint_about(step, 6).names("draft_token_indices"));
}

TEST_CASE("a step's trees and configs are validated", "[request]") {
  OwnedStep step = good_step();
  SECTION("token") {
    step.trees->at(1).token_ids[1] = 50;
    const Complaint complaint = complaint_about(step, 6);
    CHECK(complaint.names("token_ids"));
    CHECK(complaint.value == "50");
  }
  SECTION("parent") {
    step.trees->at(1).parents[0] = 1;
    CHECK(complaint_about(step, 6).names("parents"));
  }
  SECTION("temperature") {
    step.configs[2].temperature = -1;
    const Complaint complaint = complaint_about(step, 6);
    CHECK(complaint.field == "generation_configs[2].temperature");
  }
  SECTION("bias") {
    step.configs[1].logit_bias = {{50, 0.0}};
    CHECK(complaint_about(step, 6).names("logit_bias"));
  }
}

TEST_CASE("tokens of a history lie in the vocabulary", "[request]") {
  const TokenId token = GENERATE(50, 51, std::numeric_limits<TokenId>::max());
  OwnedStep step = good_step();
  SECTION("generated") {
    step.histories[1].commit(token);
  }
  SECTION("prompt") {
    step.histories[1] = history_of({1, token, 2}, {3});
  }
  const Complaint complaint = complaint_about(step, 6);
  CHECK(complaint.names("history"));
  CHECK(complaint.index.has_value());
  CHECK(complaint.value.find(to_text(token)) != std::string::npos);
}

TEST_CASE("an edit hook can be called, or is not given", "[request]") {
  const OwnedStep step = good_step();
  StepRequests requests = step.requests();
  const EditHook empty;
  requests.edit_hook = &empty;
  CHECK(error_of([&] { validate(requests, 6, vocabulary); }).names("edit_hook"));
  const EditHook hook = [](tokkos::RowEdits&) {};
  requests.edit_hook = &hook;
  CHECK_NOTHROW(validate(requests, 6, vocabulary));
}

}  // namespace tokkos::test
