// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The flat arrays of a step: which token of which row gets which edit, without any kernel.
#include <tokkos/engine/step_edits.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/random_policies.hpp"
#include "engine/random_step.hpp"

namespace tokkos::test {
namespace {

using Counts = std::map<TokenId, std::int32_t>;

/// Which of the parts that end at `ends` element i is in.
std::int32_t part_of(const std::vector<std::size_t>& ends, std::size_t i) {
  return static_cast<std::int32_t>(std::ranges::upper_bound(ends, i) - ends.begin());
}

/// The row of penalty i.
std::int32_t penalized_row(const StepEdits& edits, std::size_t i) {
  return edits.penalty_rows[static_cast<std::size_t>(part_of(edits.penalty_ends, i))];
}

/// The penalized tokens of a row and their counts.
Counts counts_of(const StepEdits& edits, std::int64_t row) {
  Counts counts;
  for (std::size_t i = 0; i < edits.penalty_tokens.size(); ++i) {
    if (penalized_row(edits, i) == row) counts[edits.penalty_tokens[i]] = edits.penalty_counts[i];
  }
  return counts;
}

/// The biases of a row, wherever they stand.
std::map<TokenId, float> biases_of(const StepEdits& edits, std::int64_t row) {
  std::map<TokenId, float> biases;
  for (std::size_t i = 0; i < edits.biases.size(); ++i) {
    if (part_of(edits.bias_ends, i) == row) biases[edits.bias_tokens[i]] = edits.biases[i];
  }
  for (const auto& [place, bias] : edits.penalty_biases) {
    if (penalized_row(edits, place) == row) biases[edits.penalty_tokens[place]] = bias;
  }
  return biases;
}

/// A row behind the path 1 -> 5 -> 1 of drafts; prompt 1 2 3 2, generated 4 2 6.
OwnedStep one_row(const GenerationConfig& config, std::int32_t node = 2) {
  OwnedStep step;
  TokenHistory history({1, 2, 3, 2});
  for (const TokenId token : {4, 2, 6}) history.commit(token);
  step.add(config, history);
  step.trees = {{{1, 5, 1, 9}, {-1, 0, 1, -1}}};
  step.indices = std::vector<std::vector<std::int32_t>>{{node}};
  return step;
}

StepEdits edits_of(const OwnedStep& step) {
  StepEdits edits;
  edits.assign(step.requests(), 12);
  return edits;
}

GenerationConfig penalized(PenaltyPolicy policy, std::int32_t window = 64) {
  return {.penalty_policy = policy,
          .penalty_window = window,
          .presence_penalty = 0.5f,
          .repetition_penalty = 1.5f};
}

/// Rows and tokens that stand there twice.
int duplicates(const StepEdits& edits) {
  std::set<std::pair<std::int32_t, TokenId>> seen;
  int twice = 0;
  for (std::size_t i = 0; i < edits.biases.size(); ++i) {
    twice += seen.emplace(part_of(edits.bias_ends, i), edits.bias_tokens[i]).second ? 0 : 1;
  }
  for (std::size_t i = 0; i < edits.penalty_tokens.size(); ++i) {
    twice += seen.emplace(penalized_row(edits, i), edits.penalty_tokens[i]).second ? 0 : 1;
  }
  return twice;
}

}  // namespace

TEST_CASE("each policy lists the tokens that it penalizes, drafts among the output", "[engine]") {
  const auto counts = [](const GenerationConfig& config, std::int32_t node = 2) {
    const StepEdits edits = edits_of(one_row(config, node));
    CHECK(duplicates(edits) == 0);
    CHECK(edits.penalty_policies ==
          std::vector<std::int32_t>(edits.penalty_rows.size(),
                                    static_cast<std::int32_t>(config.penalty_policy)));
    return counts_of(edits, 0);
  };
  CHECK(counts(penalized(PenaltyPolicy::seed)) == Counts{{4, 1}, {2, 1}, {6, 1}, {1, 2}, {5, 1}});
  for (const auto policy : {PenaltyPolicy::openai, PenaltyPolicy::hugging_face}) {
    CHECK(counts(penalized(policy)) == Counts{{4, 1}, {2, 1}, {6, 1}, {1, 2}, {5, 1}, {3, 0}});
    CHECK(counts(penalized(policy), -1) == Counts{{4, 1}, {2, 1}, {6, 1}, {1, 0}, {3, 0}});
  }
  // 1 2 3 2 4 2 6 1 5 1
  const auto window = [&](std::int32_t length, std::int32_t node) {
    return counts(penalized(PenaltyPolicy::llama_cpp, length), node);
  };
  const Counts all = {{1, 3}, {2, 3}, {3, 1}, {4, 1}, {5, 1}, {6, 1}};
  CHECK(window(-1, 2) == all);
  CHECK(window(64, 2) == all);
  CHECK(window(10, 2) == all);
  CHECK(window(9, 2) == Counts{{1, 2}, {2, 3}, {3, 1}, {4, 1}, {5, 1}, {6, 1}});
  CHECK(window(5, 2) == Counts{{1, 2}, {2, 1}, {5, 1}, {6, 1}});
  CHECK(window(3, 2) == Counts{{1, 2}, {5, 1}});
  CHECK(window(2, 2) == Counts{{1, 1}, {5, 1}});
  CHECK(window(1, 2) == Counts{{1, 1}});
  CHECK(window(0, 2) == Counts{});
  CHECK(window(2, 0) == Counts{{6, 1}, {1, 1}});
  CHECK(window(3, -1) == Counts{{4, 1}, {2, 1}, {6, 1}});
}

TEST_CASE("prompt tokens are listed only where the repetition penalty changes them", "[engine]") {
  GenerationConfig config = penalized(PenaltyPolicy::openai);
  config.repetition_penalty = 1.0f;
  CHECK(counts_of(edits_of(one_row(config)), 0) == Counts{{4, 1}, {2, 1}, {6, 1}, {1, 2}, {5, 1}});
}

TEST_CASE("a banned token is a bias of minus infinity, whatever else biases or penalizes it",
          "[engine]") {
  for (const PenaltyPolicy policy : penalty_policies) {
    GenerationConfig config = penalized(policy);
    config.logit_bias = {{2, 1.0}, {7, 2.0}, {8, 1.0}};
    config.banned_token_ids = {2, 7, 11, 7};
    const StepEdits edits = edits_of(one_row(config));
    CHECK(duplicates(edits) == 0);
    CHECK(biases_of(edits, 0) ==
          std::map<TokenId, float>{{2, -HUGE_VALF}, {7, -HUGE_VALF}, {8, 1.0f}, {11, -HUGE_VALF}});
  }
}

TEST_CASE("what is banned by context depends on a row's own path", "[engine]") {
  GenerationConfig config;
  config.end_token_ids = {10};
  config.min_tokens = 5;
  config.no_repeat_ngram_size = 2;
  config.bad_words = {{6, 7}, {6, 1, 5, 8}, {11}};
  using Biases = std::map<TokenId, float>;
  const float never = -HUGE_VALF;
  // Behind 1 2 3 2 4 2 6: nothing followed 6.
  CHECK(biases_of(edits_of(one_row(config, -1)), 0) ==
        Biases{{10, never}, {7, never}, {11, never}});
  // Behind ... 6 1: 1 was followed by 2; four tokens are generated.
  CHECK(biases_of(edits_of(one_row(config, 0)), 0) == Biases{{10, never}, {2, never}, {11, never}});
  CHECK(biases_of(edits_of(one_row(config, 1)), 0) == Biases{{8, never}, {11, never}});
  CHECK(biases_of(edits_of(one_row(config, 2)), 0) == Biases{{2, never}, {5, never}, {11, never}});
}

TEST_CASE("the edits of random steps stand there once and in the limits that are staged",
          "[engine]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    RandomStep step = make_random_step(37, 33, seed);
    add_policies_and_bans(step, seed);
    const Snapshot before(step);
    StepEdits edits;
    edits.assign(step.step.requests(), step.active, step.vocabulary);
    CHECK(duplicates(edits) == 0);
    CHECK(Snapshot(step) == before);
    CHECK(edits.penalty_tokens.size() == edits.penalty_counts.size());
    CHECK(std::ranges::is_sorted(edits.penalty_biases, std::less(), &PenaltyBias::place));
    CHECK((edits.penalty_biases.empty() ||
           edits.penalty_biases.back().place < edits.penalty_tokens.size()));
    CHECK(edits.penalty_ends.size() == edits.penalty_rows.size());
    CHECK((edits.penalty_ends.empty() ? 0 : edits.penalty_ends.back()) ==
          edits.penalty_tokens.size());
    CHECK(std::ranges::is_sorted(edits.penalty_ends));
    REQUIRE(edits.bias_ends.size() == static_cast<std::size_t>(step.rows));
    CHECK(edits.bias_ends.back() == edits.biases.size());
    CHECK(edits.bias_tokens.size() == edits.biases.size());
    CHECK(std::ranges::is_sorted(edits.bias_ends));
    CHECK(edits.penalties.size() == 3 * edits.penalty_rows.size());
    CHECK(edits.penalty_policies.size() == edits.penalty_rows.size());
    CHECK(edits.mask_positions.size() == edits.mask_rows.size());
    const std::set<std::int32_t> masks(edits.mask_positions.begin(), edits.mask_positions.end());
    CHECK(edits.mask_words.size() == masks.size() * edits.words_per_row);
    CHECK((masks.empty() || *masks.rbegin() + 1 == static_cast<std::int32_t>(masks.size())));
    for (std::size_t i = 0; i < edits.penalty_tokens.size(); ++i) {
      const auto group = static_cast<std::size_t>(part_of(edits.penalty_ends, i));
      const bool counts_none = penalizes_prompt(PenaltyPolicy{edits.penalty_policies[group]});
      CHECK(edits.penalty_counts[i] >= (counts_none ? 0 : 1));
    }
  }
}

TEST_CASE("penalty biases are listed for penalized tokens that have one", "[engine]") {
  GenerationConfig config = penalized(PenaltyPolicy::seed);
  config.logit_bias = {{7, 1.0}};
  CHECK(edits_of(one_row(config)).penalty_biases.empty());
  config.logit_bias = {{7, 1.0}, {4, 2.0}};
  CHECK(edits_of(one_row(config)).penalty_biases.size() == 1);
}

TEST_CASE("a hook sees every row in its order and adds biases to its own", "[engine]") {
  GenerationConfig config = penalized(PenaltyPolicy::seed);
  config.logit_bias = {{3, 1.0}, {4, 1.0}};
  OwnedStep step;
  TokenHistory history({1, 2});
  history.commit(4);
  step.add(config, history);
  step.add({}, {});
  step.trees = {{{7, 8}, {-1, 0}}, {}};
  step.indices = {{-1, 1}, {-1}};
  step.cum_num_token = {0, 2, 3};
  std::vector<std::string> seen;
  const EditHook hook = [&seen](tokkos::RowEdits& edits) {
    std::string text = std::to_string(edits.request()) + ":" + std::to_string(edits.row()) + ":" +
                       std::to_string(edits.draft_node()) + ":";
    for (std::size_t i = 0; i < edits.context().size(); ++i) {
      text += ' ' + std::to_string(edits.context()[i]);
    }
    seen.push_back(text);
    if (edits.row() == 0) edits.add_bias(4, 0.5);
    if (edits.row() == 1) edits.forbid(3);
    if (edits.row() == 2) edits.add_bias(19, -2.0);
    if (edits.row() == 2) edits.add_bias(19, 0.5);
  };
  StepRequests requests = step.requests();
  requests.edit_hook = &hook;
  StepEdits edits;
  edits.assign(requests, 12, 20);
  CHECK(seen == std::vector<std::string>{"0:0:-1: 1 2 4", "0:1:1: 1 2 4 7 8", "1:2:-1:"});
  using Biases = std::map<TokenId, float>;
  CHECK(biases_of(edits, 0) == Biases{{3, 1.0f}, {4, 1.5f}});
  CHECK(biases_of(edits, 1) == Biases{{3, -HUGE_VALF}, {4, 1.0f}});
  CHECK(biases_of(edits, 2) == Biases{{19, -1.5f}});
  CHECK(duplicates(edits) == 0);

  requests.edit_hook = nullptr;
  edits.assign(requests, 12, 20);
  CHECK(biases_of(edits, 0) == Biases{{3, 1.0f}, {4, 1.0f}});
  CHECK(biases_of(edits, 2) == Biases{});
}

}  // namespace tokkos::test
