// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/scripted_grammar.hpp"
#include "request/owned_step.hpp"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace tokkos::test {

/// A step of three requests with rows of every kind: one row; a root and a tree of three drafts
/// behind a grammar; two rows.
struct ThreeRequests {
  static constexpr std::int64_t vocabulary = 100, rows = 7;
  OwnedStep step;
  ScriptedGrammar grammar{7, vocabulary};

  ThreeRequests() {
    TokenHistory history({1, 2, 5});
    for (const TokenId token : {8, 9, 8}) history.commit(token);
    GenerationConfig config{.temperature = 0.7f, .top_k = 30, .presence_penalty = 0.5f};
    config.logit_bias = {{3, 1.5}, {99, -2.0}};
    step.add(config, history);
    grammar.commit(5);
    step.add({.temperature = 1.2f, .frequency_penalty = 0.25f, .repetition_penalty = 1.1f}, history,
             &grammar);
    step.add({.temperature = 0.0f, .banned_token_ids = {4}}, history);
    step.cum_num_token = {0, 1, 5, 7};
    step.trees = {{}, {{10, 11, 12}, {-1, 0, 0}}, {}};
    step.indices = {{-1}, {-1, 0, 1, 2}, {-1, -1}};
  }
  ThreeRequests(const ThreeRequests&) = delete;  // the step points to the grammar
  ThreeRequests& operator=(const ThreeRequests&) = delete;

  /// The same numbers every time, multiples of 1/8.
  static std::vector<float> logits() {
    std::mt19937_64 random(3);
    std::vector<float> values(static_cast<std::size_t>(rows * vocabulary));
    for (float& x : values) x = static_cast<float>(static_cast<int>(random() % 161) - 80) / 8;
    return values;
  }

  /// What no call may change: histories and the grammar, with the number of its misuses.
  std::pair<std::vector<std::vector<TokenId>>, int> state() const {
    std::vector<std::vector<TokenId>> tokens{grammar.accepted()};
    for (const TokenHistory& history : step.histories) {
      tokens.emplace_back(history.prompt().begin(), history.prompt().end());
      tokens.emplace_back(history.generated().begin(), history.generated().end());
    }
    return {tokens, grammar.misuses()};
  }
};

}  // namespace tokkos::test
