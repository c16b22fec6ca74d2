// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Matchers come back as they were, whatever happens on the way.
#include <tokkos/core/row_status.hpp>
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 70;

int calls_of(const RandomStep& step) {
  int calls = 0;
  for (const ScriptedGrammar& grammar : step.grammars) calls += grammar.calls();
  return calls;
}

/// A path of `length` tokens that the grammar allows, none of them its end.
std::vector<TokenId> allowed_path(const ScriptedGrammar& grammar, std::size_t length) {
  std::vector<TokenId> state = grammar.accepted(), path;
  while (path.size() < length) {
    TokenId token = static_cast<TokenId>(7 * path.size() + 3);
    while (!grammar.allows(state, token) || token == ScriptedGrammar::end_token) ++token;
    state.push_back(token);
    path.push_back(token);
  }
  return path;
}

/// A token that the grammar refuses after `path`.
TokenId refused_token(const ScriptedGrammar& grammar, const std::vector<TokenId>& path) {
  std::vector<TokenId> state = grammar.accepted();
  state.insert(state.end(), path.begin(), path.end());
  TokenId token = 0;
  while (grammar.allows(state, token)) ++token;
  return token;
}

/// The first scripts whose grammar may end at once.
std::vector<std::uint32_t> scripts_that_may_end(std::size_t count) {
  std::vector<std::uint32_t> scripts;
  for (std::uint32_t script = 0; scripts.size() < count; ++script) {
    if (ScriptedGrammar(script, vocabulary).allows({}, ScriptedGrammar::end_token)) {
      scripts.push_back(script);
    }
  }
  return scripts;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a matcher that throws at any call leaves everything as it was", "[engine]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  RandomStep step = make_random_step(vocabulary, vocabulary, 5, 20);
  const auto rows = static_cast<std::size_t>(step.rows);
  std::mt19937_64 random(1);
  const std::vector<float> input = random_logits(rows * vocabulary, random, false);
  const auto update = [&](LogitProcessor<TestType>& processor, auto& logits) {
    processor.inplace_update_logits(logits.matrix(), step.step.requests());
    Kokkos::fence("tokkos::test::updated");
    return logits.values();
  };
  LogitProcessor<TestType> processor(TestType(), step.rows, vocabulary);
  Guarded<float, MemorySpace> first(rows, vocabulary, 0, std::span(input));
  const Snapshot before(step);
  const std::vector<float> expected = update(processor, first);
  REQUIRE(calls_of(step) > 10);
  int failures = 0;
  std::vector<int> calls;
  for (const ScriptedGrammar& grammar : step.grammars) calls.push_back(grammar.calls());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ScriptedGrammar& grammar = step.grammars[i];
    for (int call = 0; call < calls[i]; ++call) {
      CAPTURE(call);
      grammar.throw_at(call);
      Guarded<float, MemorySpace> logits(rows, vocabulary, 0, std::span(input));
      CHECK_THROWS_AS(update(processor, logits), GrammarFailure);
      Kokkos::fence("tokkos::test::failed");
      CHECK(logits.values() == input);
      CHECK(Snapshot(step) == before);
      ++failures;
    }
    grammar.throw_at(-1);
  }
  CHECK(failures > 10);
  Guarded<float, MemorySpace> last(rows, vocabulary, 0, std::span(input));
  CHECK(update(processor, last) == expected);
  CHECK(Snapshot(step) == before);
}

TEMPLATE_LIST_TEST_CASE(
    "a node that the grammar refuses has an empty mask, and so have those below", "[engine]",
    ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  ScriptedGrammar grammar(9, vocabulary);
  grammar.commit(5);
  const std::vector<TokenId> path = allowed_path(grammar, 3);
  const TokenId refused = refused_token(grammar, {path[0]});
  OwnedStep step;
  step.add({}, {}, &grammar);
  // path[0] -> path[1] -> path[2]; path[0] -> refused -> path[2]
  step.trees = {{{path[0], path[1], path[2], refused, path[2]}, {-1, 0, 1, 0, 3}}};
  step.indices = {{-1, 0, 1, 2, 3, 4}};
  step.cum_num_token = {0, 6};
  Guarded<float, MemorySpace> logits(6, vocabulary, 0, {});
  Guarded<std::int32_t, MemorySpace> status(6);
  LogitProcessor<TestType> processor(TestType(), 6, vocabulary);
  processor.inplace_update_logits(logits.matrix(), step.requests());
  processor.compute_probs_from_logits(logits.matrix(), step.requests(), logits.matrix(),
                                      status.vector());
  Kokkos::fence("tokkos::test::probabilities");
  const std::int32_t empty = RowStatus::empty;
  CHECK(status.values() == std::vector<std::int32_t>{0, 0, 0, 0, empty, empty});
  const std::vector<float> probabilities = logits.values();
  for (std::size_t row = 0; row < 4; ++row) {
    std::vector<TokenId> state = grammar.accepted();
    state.insert(state.end(), path.begin(), path.begin() + static_cast<std::ptrdiff_t>(row));
    for (TokenId token = 0; token < vocabulary; ++token) {
      const float p = probabilities[row * vocabulary + static_cast<std::size_t>(token)];
      CHECK((p > 0) == grammar.allows(state, token));
    }
  }
  CHECK(std::ranges::count(std::span(probabilities).subspan(4 * vocabulary), 0.0f) ==
        2 * vocabulary);
  CHECK(grammar.accepted() == std::vector<TokenId>{5});
  CHECK(grammar.misuses() == 0);
}

TEMPLATE_LIST_TEST_CASE("a draft past the end of the grammar has an empty mask", "[engine]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const std::uint32_t script = scripts_that_may_end(4)[GENERATE(0, 1, 2, 3)];
  CAPTURE(script);
  ScriptedGrammar grammar(script, vocabulary);
  OwnedStep step;
  step.add({}, {}, &grammar);
  step.trees = {{{ScriptedGrammar::end_token, 4}, {-1, 0}}};
  step.indices = {{-1, 0, 1}};
  step.cum_num_token = {0, 3};
  Guarded<float, MemorySpace> logits(3, vocabulary, 0, {});
  Guarded<std::int32_t, MemorySpace> status(3);
  LogitProcessor<TestType> processor(TestType(), 3, vocabulary);
  processor.inplace_update_logits(logits.matrix(), step.requests());
  processor.compute_probs_from_logits(logits.matrix(), step.requests(), logits.matrix(),
                                      status.vector());
  Kokkos::fence("tokkos::test::probabilities");
  CHECK(status.values() == std::vector<std::int32_t>{0, RowStatus::empty, RowStatus::empty});
  CHECK(grammar.accepted().empty());
  CHECK(grammar.misuses() == 0);
}

TEMPLATE_LIST_TEST_CASE("an unconstrained matcher is not asked for a mask", "[engine]",
                        ExecutionSpaces) {
  ScriptedGrammar grammar(3, vocabulary, false);
  OwnedStep step;
  step.add({}, {}, &grammar);
  Guarded<float, MemoryOf<TestType>> logits(1, vocabulary, 0, {});
  LogitProcessor<TestType> processor(TestType(), 1, vocabulary);
  processor.inplace_update_logits(logits.matrix(), step.requests());
  Kokkos::fence("tokkos::test::updated");
  CHECK(logits.values() == std::vector<float>(vocabulary));
  CHECK(grammar.calls() == 0);
}

TEMPLATE_LIST_TEST_CASE("probabilities are computed without asking a matcher", "[engine]",
                        ExecutionSpaces) {
  RandomStep step = make_random_step(vocabulary, vocabulary, 5, 8);
  const auto rows = static_cast<std::size_t>(step.rows);
  Guarded<float, MemoryOf<TestType>> logits(rows, vocabulary, 0, {});
  LogitProcessor<TestType> processor(TestType(), step.rows, vocabulary);
  processor.compute_probs_from_logits(logits.matrix(), step.step.requests(), logits.matrix());
  CHECK(calls_of(step) == 0);
}

}  // namespace tokkos::test
