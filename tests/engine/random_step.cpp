// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/random_step.hpp"

#include "engine/random_policies.hpp"

#include <algorithm>
#include <cfloat>
#include <limits>
#include <optional>

namespace tokkos::test {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T>
T one_of(std::mt19937_64& random, std::initializer_list<T> choices) {
  return choices.begin()[random() % choices.size()];
}

TokenId random_token(std::mt19937_64& random, std::int64_t vocabulary) {
  // Few distinct tokens, so that biases, history and drafts meet.
  const auto few = std::min<std::uint64_t>(12, static_cast<std::uint64_t>(vocabulary));
  const bool from_end = random() % 4 == 0;
  const auto token = static_cast<TokenId>(random() % few);
  return from_end ? static_cast<TokenId>(vocabulary - 1) - token : token;
}

GenerationConfig random_config(std::mt19937_64& random, std::int64_t vocabulary) {
  GenerationConfig config;
  config.temperature = one_of(random, {0.0f, 1e-5f, 0.3f, 1.0f, 1.5f});
  config.seed = random();
  if (random() % 3 != 0) {
    config.presence_penalty = one_of(random, {0.0f, 0.5f, -0.7f});
    config.frequency_penalty = one_of(random, {0.0f, 0.3f, -0.1f});
    config.repetition_penalty = one_of(random, {1.0f, 1.3f, 0.8f});
  }
  const std::size_t biases = random() % 6;
  for (std::size_t i = 0; i < biases; ++i) {
    const double bias = static_cast<double>(random() % 81) / 4 - 10;
    const bool forbids = random() % 8 == 0;
    config.logit_bias.emplace_back(random_token(random, vocabulary),
                                   forbids ? -static_cast<double>(infinity) : bias);
  }
  return config;
}

TokenHistory random_history(std::mt19937_64& random, std::int64_t vocabulary) {
  TokenHistory history({random_token(random, vocabulary), random_token(random, vocabulary)});
  const std::size_t generated = random() % 20;
  for (std::size_t i = 0; i < generated; ++i) history.commit(random_token(random, vocabulary));
  return history;
}

DraftTree random_tree(std::mt19937_64& random, std::int64_t vocabulary) {
  DraftTree tree;
  const std::size_t nodes = 1 + random() % 7;
  for (std::size_t i = 0; i < nodes; ++i) {
    tree.token_ids.push_back(random_token(random, vocabulary));
    tree.parents.push_back(static_cast<std::int32_t>(random() % (i + 1)) - (random() % 4 == 0));
    tree.parents.back() = std::clamp(tree.parents.back(), -1, static_cast<std::int32_t>(i) - 1);
  }
  return tree;
}

/// Rows of a request: the last committed token, then some of its nodes in some order.
std::vector<std::int32_t> random_rows(std::mt19937_64& random, const DraftTree& tree) {
  std::vector<std::int32_t> rows = {-1};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (random() % 5 != 0) rows.push_back(static_cast<std::int32_t>(i));
  }
  if (random() % 2 == 0) std::ranges::shuffle(rows, random);
  return rows;
}

}  // namespace

RandomStep make_random_step(std::int64_t vocabulary, std::int64_t active, std::uint64_t seed,
                            int requests) {
  std::mt19937_64 random(seed);
  RandomStep result;
  result.vocabulary = vocabulary;
  result.active = active;
  const bool drafts = seed % 3 != 0;
  const bool multiple_rows = seed % 4 != 0;
  std::vector<std::int32_t> cum = {0};
  std::vector<DraftTree> trees;
  std::vector<std::vector<std::int32_t>> indices;
  for (int i = 0; i < requests; ++i) {
    ScriptedGrammar* grammar = nullptr;
    if (random() % 3 != 0) {
      grammar = &result.grammars.emplace_back(static_cast<std::uint32_t>(random()), active,
                                              random() % 4 != 0);
      grammar->commit(random_token(random, vocabulary) | 1);  // never the end token
    }
    result.step.add(random_config(random, vocabulary), random_history(random, vocabulary), grammar);
    if (random() % 6 == 0) result.step.states.back().history = nullptr;
    const auto kind = random() % 3;
    trees.push_back(drafts && kind == 2 ? random_tree(random, vocabulary) : DraftTree{});
    std::vector<std::int32_t> rows(kind == 1 ? 1 + random() % 3 : 1, -1);
    if (drafts && kind == 2) rows = random_rows(random, trees.back());
    if (!multiple_rows) rows = {rows.back()};
    cum.push_back(cum.back() + static_cast<std::int32_t>(rows.size()));
    indices.push_back(rows);
  }
  result.rows = cum.back();
  if (multiple_rows) result.step.cum_num_token = cum;
  if (drafts) {
    result.step.trees = trees;
    result.step.indices = indices;
  }
  return result;
}

RowEdits RandomStep::edits(std::size_t request, std::int64_t row) const {
  const GenerationConfig& config = step.configs[request];
  const SequenceState& state = step.states[request];
  RowEdits edits;
  for (const auto& [token, bias] : config.logit_bias) edits.biases.emplace_back(token, bias);
  edits.presence = config.presence_penalty;
  edits.frequency = config.frequency_penalty;
  edits.repetition = config.repetition_penalty;

  std::vector<TokenId> path;
  if (step.indices) {
    const DraftTree& tree = (*step.trees)[request];
    for (std::int32_t node = (*step.indices)[request][static_cast<std::size_t>(row)]; node != -1;
         node = tree.parents[static_cast<std::size_t>(node)]) {
      path.insert(path.begin(), tree.token_ids[static_cast<std::size_t>(node)]);
    }
  }
  if (state.history != nullptr) {
    for (const TokenId token : state.history->generated()) ++edits.counts[token];
  }
  for (const TokenId token : path) ++edits.counts[token];
  describe_policy_and_bans(config, state.history, path, active, edits);

  const auto* grammar = dynamic_cast<const ScriptedGrammar*>(state.mask);
  if (grammar == nullptr || !grammar->is_constrained()) return edits;
  edits.masked = true;
  edits.allowed.resize(static_cast<std::size_t>(active), true);  // if no list did
  std::vector<TokenId> accepted = grammar->accepted();
  bool refused = false;
  for (const TokenId token : path) {
    refused = refused || !grammar->allows(accepted, token);
    accepted.push_back(token);
  }
  for (TokenId token = 0; token < active; ++token) {
    const auto place = static_cast<std::size_t>(token);
    edits.allowed[place] = edits.allowed[place] && !refused && grammar->allows(accepted, token);
  }
  return edits;
}

RandomStep make_random_step_with_histories(std::int64_t vocabulary, std::int64_t active,
                                           std::uint64_t seed) {
  RandomStep result = make_random_step(vocabulary, active, seed);
  for (std::size_t i = 0; i < result.step.states.size(); ++i) {
    result.step.states[i].history = &result.step.histories[i];
  }
  return result;
}

std::unique_ptr<RandomStep> make_truncated_step(std::int64_t vocabulary, std::uint64_t seed) {
  auto result =
      std::make_unique<RandomStep>(make_random_step_with_histories(vocabulary, vocabulary, seed));
  for (std::size_t i = 0; i < result->step.configs.size(); ++i) {
    if (i % 3 == 2) continue;
    GenerationConfig& config = result->step.configs[i];
    if (i % 4 != 1) config.top_k = static_cast<std::int32_t>(3 + 40 * i);
    if (i % 3 == 1) config.top_p = 0.8f;
    if (i % 4 != 0) config.min_p = 0.01f;
  }
  return result;
}

std::vector<float> random_logits(std::size_t count, std::mt19937_64& random, bool special) {
  std::vector<float> logits(count);
  for (float& x : logits) {
    x = static_cast<float>(static_cast<int>(random() % 321) - 160) / 8;
    if (special && random() % 16 == 0) {
      x = one_of(random, {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, FLT_MAX,
                          -FLT_MAX, -0.0f});
    }
  }
  return logits;
}

Snapshot::Snapshot(const RandomStep& step) {
  for (const TokenHistory& history : step.step.histories) {
    generated.emplace_back(history.generated().begin(), history.generated().end());
  }
  for (const ScriptedGrammar& grammar : step.grammars) {
    accepted.push_back(grammar.accepted());
    misuses += grammar.misuses();
  }
}

}  // namespace tokkos::test
