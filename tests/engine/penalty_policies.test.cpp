// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Penalty policies and banned tokens through the LogitProcessor, on steps of all kinds.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "backends.hpp"
#include "engine/random_policies.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"
#include "reference/processor_reference.hpp"

namespace tokkos::test {
namespace {

template <class Logit>
constexpr StoredAs stored_as = std::is_same_v<Logit, float>      ? StoredAs::float32
                               : std::is_same_v<Logit, bfloat16> ? StoredAs::bfloat16
                                                                 : StoredAs::float16;

template <class Logit>
std::vector<float> widened(const std::vector<Logit>& values) {
  std::vector<float> result;
  for (const Logit x : values) result.push_back(widen(x));
  return result;
}

/// Logits that are not the same number with the same sign; any NaN equals any other.
int differences(const std::vector<float>& a, const std::vector<float>& b) {
  int different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same =
        std::isnan(a[i]) ? std::isnan(b[i])
                         : std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i]);
    different += same ? 0 : 1;
  }
  return different;
}

/// Every row of the step edited by the reference.
std::vector<float> expected_logits(const RandomStep& step, std::vector<float> logits,
                                   StoredAs type) {
  const StepRequests requests = step.step.requests();
  const auto columns = static_cast<std::size_t>(step.vocabulary);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (std::int64_t row = requests.first_row(i); row < requests.end_row(i); ++row) {
      apply_edits(std::span(logits).subspan(static_cast<std::size_t>(row) * columns, columns),
                  step.edits(i, row - requests.first_row(i)), type);
    }
  }
  return logits;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a step with policies and bans agrees with the plain reference", "[engine]",
                        Backends) {
  using Logit = typename TestType::logit;
  using Space = typename TestType::execution_space;
  using Memory = typename TestType::memory_space;
  const std::int64_t vocabulary = GENERATE(24, 37, 4100);
  const std::uint64_t seeds = vocabulary < 100 ? 24 : 4;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(vocabulary, seed);
    RandomStep step = make_random_step(vocabulary, vocabulary - (seed % 2 == 0 ? 5 : 0), seed);
    add_policies_and_bans(step, seed);
    const auto rows = static_cast<std::size_t>(step.rows);
    const auto columns = static_cast<std::size_t>(vocabulary);
    std::mt19937_64 random(seed);
    std::vector<Logit> input;
    for (const float x : random_logits(rows * columns, random, seed % 3 == 0)) {
      input.push_back(narrow<Logit>(x));
    }
    const std::vector<float> expected = expected_logits(step, widened(input), stored_as<Logit>);
    const Snapshot before(step);
    LogitProcessor<Space> processor(Space(), step.rows, vocabulary, step.active);

    Guarded<Logit, Memory> logits(rows, columns, 3, std::span<const Logit>(input));
    processor.inplace_update_logits(logits.matrix(), step.step.requests());
    Kokkos::fence("tokkos::test::updated");
    CHECK(differences(widened(logits.values()), expected) == 0);
    CHECK(logits.guards_intact());

    Guarded<Logit, Memory> fused(rows, columns, 3, std::span<const Logit>(input));
    Guarded<float, Memory> log_sum_exp(rows);
    processor.process(fused.matrix(), step.step.requests(), {.log_sum_exp = log_sum_exp.vector()},
                      {.store_mask = true});
    Kokkos::fence("tokkos::test::processed");
    CHECK(differences(widened(fused.values()), expected) == 0);
    CHECK(Snapshot(step) == before);
  }
}

TEMPLATE_LIST_TEST_CASE("each policy penalizes a row behind drafts by its own definition",
                        "[engine]", ExecutionSpaces) {
  // Prompt 0 1 1, generated 2, drafts 2 -> 3; presence 0.5, frequency 1, repetition 2.
  TokenHistory history({0, 1, 1});
  history.commit(2);
  OwnedStep step;
  constexpr std::int32_t windows[] = {64, 64, 64, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    step.add({.penalty_policy = penalty_policies[i],
              .penalty_window = windows[i],
              .presence_penalty = 0.5f,
              .frequency_penalty = 1.0f,
              .repetition_penalty = 2.0f},
             history);
  }
  step.trees = std::vector<DraftTree>(4, {{2, 3}, {-1, 0}});
  step.indices = std::vector<std::vector<std::int32_t>>(4, {1});
  const std::vector<float> row = {8, -8, 8, 8, 8};
  std::vector<float> values;
  for (int i = 0; i < 4; ++i) values.insert(values.end(), row.begin(), row.end());
  Guarded<float, MemoryOf<TestType>> logits(4, 5, 0, std::span<const float>(values));
  LogitProcessor<TestType> processor(TestType(), 4, 5);
  processor.inplace_update_logits(logits.matrix(), step.requests());
  Kokkos::fence("tokkos::test::updated");
  CHECK(logits.values() == std::vector<float>{8, -8,     2.75f, 3.25f, 8,    // seed
                                              4, -16,    1.5f,  2.5f,  8,    // openai
                                              4, -16,    4,     4,     8,    // hugging_face
                                              8, -17.5f, 1.5f,  2.5f,  8});  // llama_cpp
}

TEMPLATE_LIST_TEST_CASE("a ban holds beside a grammar, and neither undoes the other", "[engine]",
                        ExecutionSpaces) {
  ScriptedGrammar grammar(3, 40);
  TokenId allowed = 0;
  while (!grammar.allows({}, allowed)) ++allowed;
  OwnedStep step;
  step.add({.banned_token_ids = {allowed}}, {}, &grammar);
  step.add({.allowed_token_ids = {allowed, allowed + 1}, .banned_token_ids = {allowed}}, {});
  Guarded<float, MemoryOf<TestType>> logits(2, 40, 0, {});
  Guarded<float, MemoryOf<TestType>> probabilities(2, 40, 0, {});
  LogitProcessor<TestType> processor(TestType(), 2, 40);
  processor.process(logits.matrix(), step.requests(), {.probabilities = probabilities.matrix()});
  Kokkos::fence("tokkos::test::processed");
  const std::vector<float> p = probabilities.values();
  for (TokenId token = 0; token < 40; ++token) {
    CAPTURE(token);
    const bool follows = token != allowed && grammar.allows({}, token);
    CHECK((p[static_cast<std::size_t>(token)] > 0.0f) == follows);
    CHECK(p[40 + static_cast<std::size_t>(token)] == (token == allowed + 1 ? 1.0f : 0.0f));
  }
}

TEMPLATE_LIST_TEST_CASE("a step under any policy stages sparse lists, prompts included", "[engine]",
                        ExecutionSpaces) {
  constexpr std::int64_t vocabulary = 128256;
  constexpr int rows = 80;
  for (const PenaltyPolicy policy : penalty_policies) {
    OwnedStep step;
    for (int i = 0; i < rows; ++i) {
      std::vector<TokenId> prompt(128);
      for (int t = 0; t < 128; ++t) prompt[static_cast<std::size_t>(t)] = 1000 * t + i;
      TokenHistory history(prompt);
      for (int t = 0; t < 128; ++t) history.commit(999 * t + i);
      step.add({.penalty_policy = policy, .penalty_window = -1, .repetition_penalty = 1.1f},
               history);
    }
    Kokkos::View<float**, Kokkos::LayoutRight, MemoryOf<TestType>> logits(
        "tokkos::test::logits", rows, static_cast<std::size_t>(vocabulary));
    LogitProcessor<TestType> processor(TestType(), rows, vocabulary);
    processor.inplace_update_logits(logits, step.requests());
    CHECK(processor.staged_bytes() > rows * 128 * 2 * sizeof(TokenId));
    CHECK(processor.staged_bytes() < (std::size_t{1} << 19));
  }
}

}  // namespace tokkos::test
