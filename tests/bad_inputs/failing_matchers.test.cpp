// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A call of a matcher fails half way through a step, or half way through a commit.
#include <tokkos/engine/verified_draft.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <new>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/bad_value_count.hpp"
#include "bad_inputs/failing_allocations.hpp"
#include "bad_inputs/fresh_engine.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {

TEMPLATE_LIST_TEST_CASE("a matcher that throws at its n-th call leaves everything usable",
                        "[row-58]", ExecutionSpaces) {
  using Engine = FreshEngine<TestType>;
  const std::vector<void (Engine::*)()> next{&Engine::process, &Engine::update,
                                             &Engine::prepare_and_process};
  const Bits expected = Engine().results_of(next);
  for (const auto call : next) {
    int n = 0;
    for (bool threw = true; threw; ++n) {
      CAPTURE(n);
      Engine engine;
      const auto state = engine.given.state();
      const Bits untouched = engine.bits();
      engine.given.grammar.throw_at(n);
      threw = false;
      try {
        (engine.*call)();
      } catch (const GrammarFailure&) {
        threw = true;
      }
      engine.given.grammar.throw_at(-1);
      CHECK(engine.given.state() == state);
      if (threw) CHECK(engine.bits() == untouched);
      CHECK(engine.results_of(next) == expected);
      if (threw) count_bad_value();
    }
    CHECK(n > 5);
  }
}

TEST_CASE("a history that cannot grow stays as it was", "[row-58]") {
  const VerifiedDraft verified{{0, 1}, {5, 200, 5, 9}, 9, 0};
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    ThreeRequests given;
    ScriptedGrammar free(1, 1000, false);
    TokenHistory& history = given.step.histories[0];
    const auto state = given.state();
    bool threw = false;
    fail_allocation(n);
    try {
      commit(verified, history, &free);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    failed = stop_failing().happened;
    CHECK(threw == failed);
    if (!failed) continue;
    CHECK(given.state() == state);
    CHECK(free.accepted().empty());
    CHECK(history.count(5) == 0);
    CHECK(history.in_prompt(5));
    CHECK(history.count(8) == 2);
    commit(verified, history, &free);
    CHECK(history.count(5) == 2);
    CHECK(free.accepted() == verified.tokens);
    count_bad_value();
  }
  CHECK(n > 3);
}

TEST_CASE("taking tokens back needs no memory", "[row-58]") {
  TokenHistory given({5, 6, 7, 8});
  for (const TokenId token : {5, 9, 6, 8, 7}) given.commit(token);
  TokenHistory history = given;  // which has no room to spare
  fail_allocations_from(0);
  history.rollback(5);
  CHECK_FALSE(stop_failing().happened);
  CHECK(history.generated().empty());
  CHECK(history.counts().empty());
  CHECK(history.prompt_only().size() == 4);
  for (const TokenId token : {5, 6, 7, 8}) {
    CHECK(history.prompt_only_index_of(token) >= 0);
    history.commit(token);
  }
  CHECK(history.prompt_only().empty());
}

TEST_CASE("a commit for which memory runs out, and stays out, advances neither", "[row-58]") {
  VerifiedDraft verified;
  for (TokenId token = 0; token < 40; ++token) verified.tokens.push_back(token % 23);
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    TokenHistory history({3, 4});
    ScriptedGrammar free(1, 1000, false);
    bool threw = false;
    fail_allocations_from(n);
    try {
      commit(verified, history, &free);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    failed = stop_failing().happened;
    CHECK(threw == failed);
    CHECK(history.generated().size() == (failed ? 0 : 40));
    CHECK(free.accepted().size() == (failed ? 0 : 40));
    CHECK(history.prompt_only().size() == (failed ? 2 : 0));
    count_bad_value();
  }
  CHECK(n > 20);
}

TEST_CASE("a commit of a token that is none asks the matcher for nothing", "[row-58]") {
  TokenHistory history({3, 4});
  ScriptedGrammar free(1, 1000, false);
  const VerifiedDraft verified{{0}, {5, -7}, -7, 0};
  const Complaint said = error_of([&] { commit(verified, history, &free); });
  CHECK(said.message == "tokens[1] is -7, expected a token >= 0");
  CHECK(free.accepted().empty());
  CHECK(history.generated().empty());
}

TEST_CASE("a commit whose matcher throws at its n-th call advances neither", "[row-58]") {
  const VerifiedDraft verified{{0, 1}, {5, 200, 5, 9}, 9, 0};
  for (int n = 0; n < 4; ++n) {
    CAPTURE(n);
    ThreeRequests given;
    ScriptedGrammar free(1, 1000, false);
    TokenHistory& history = given.step.histories[0];
    const auto state = given.state();
    free.throw_at(n);
    CHECK_THROWS_AS(commit(verified, history, &free), GrammarFailure);
    free.throw_at(-1);
    CHECK(given.state() == state);
    CHECK(free.accepted().empty());
    CHECK(history.count(5) == 0);
    commit(verified, history, &free);
    CHECK(history.count(5) == 2);
    CHECK(free.accepted() == verified.tokens);
    count_bad_value();
  }
}

}  // namespace tokkos::test
