// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/random_policies.hpp"

#include "reference/banned_tokens.hpp"

#include <algorithm>
#include <random>

namespace tokkos::test {

namespace {

/// Few distinct tokens, so that they repeat; now and then one of the last of the vocabulary.
TokenId random_token(std::mt19937_64& random, std::int64_t vocabulary) {
  const auto few = std::min<std::uint64_t>(9, static_cast<std::uint64_t>(vocabulary));
  const auto token = static_cast<TokenId>(random() % few);
  return random() % 5 == 0 ? static_cast<TokenId>(vocabulary - 1) - token : token;
}

std::vector<TokenId> random_tokens(std::mt19937_64& random, std::int64_t vocabulary,
                                   std::size_t most) {
  std::vector<TokenId> tokens(random() % (most + 1));
  for (TokenId& token : tokens) token = random_token(random, vocabulary);
  return tokens;
}

void add_bans(GenerationConfig& config, std::mt19937_64& random, std::int64_t vocabulary) {
  if (random() % 3 == 0) config.banned_token_ids = random_tokens(random, vocabulary, 4);
  if (random() % 3 == 0) {
    config.end_token_ids = random_tokens(random, vocabulary, 3);
    config.min_tokens = static_cast<std::int32_t>(random() % 40);
  }
  if (random() % 3 == 0) config.no_repeat_ngram_size = static_cast<std::int32_t>(random() % 4);
  const std::size_t words = random() % 3 == 0 ? 20 : 0;
  for (std::size_t i = 0; i < words; ++i) {
    config.bad_words.push_back(random_tokens(random, vocabulary, 2));
    config.bad_words.back().push_back(random_token(random, vocabulary));
  }
  if (random() % 3 != 0) return;
  for (TokenId token = 0; token < vocabulary; ++token) {
    if (random() % 2 == 0) config.allowed_token_ids.push_back(token);
  }
  std::ranges::shuffle(config.allowed_token_ids, random);
}

}  // namespace

void add_policies_and_bans(RandomStep& step, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr std::int32_t windows[] = {-1, 0, 1, 3, 10, 64};
  for (std::size_t i = 0; i < step.step.configs.size(); ++i) {
    GenerationConfig& config = step.step.configs[i];
    config.penalty_policy = penalty_policies[random() % 4];
    config.penalty_window = windows[random() % 6];
    add_bans(config, random, step.vocabulary);
    TokenHistory history(random_tokens(random, step.vocabulary, 30));
    for (const TokenId token : random_tokens(random, step.vocabulary, 60)) history.commit(token);
    history.rollback(random() % (history.generated().size() + 1) % 4);
    step.step.histories[i] = history;
  }
}

void describe_policy_and_bans(const GenerationConfig& config, const TokenHistory* history,
                              const std::vector<TokenId>& path, std::int64_t active,
                              RowEdits& edits) {
  // Policies have the same names here; the numbers of the two lists have nothing to do with each
  // other.
  constexpr std::pair<PenaltyPolicy, ReferencePolicy> policies[] = {
      {PenaltyPolicy::seed, ReferencePolicy::seed},
      {PenaltyPolicy::openai, ReferencePolicy::openai},
      {PenaltyPolicy::hugging_face, ReferencePolicy::hugging_face},
      {PenaltyPolicy::llama_cpp, ReferencePolicy::llama_cpp}};
  for (const auto& [ours, reference] : policies) {
    if (config.penalty_policy == ours) edits.policy = reference;
  }
  edits.window = config.penalty_window;
  if (history != nullptr) {
    edits.prompt.assign(history->prompt().begin(), history->prompt().end());
    edits.output.assign(history->generated().begin(), history->generated().end());
  }
  edits.output.insert(edits.output.end(), path.begin(), path.end());
  std::vector<TokenId> sequence = edits.prompt;
  sequence.insert(sequence.end(), edits.output.begin(), edits.output.end());

  edits.banned.insert(config.banned_token_ids.begin(), config.banned_token_ids.end());
  if (static_cast<std::int32_t>(edits.output.size()) < config.min_tokens) {
    edits.banned.insert(config.end_token_ids.begin(), config.end_token_ids.end());
  }
  edits.banned.merge(repeated_ngram_tokens(sequence, config.no_repeat_ngram_size));
  edits.banned.merge(bad_word_tokens(sequence, config.bad_words));
  if (config.allowed_token_ids.empty()) return;
  edits.masked = true;
  for (TokenId token = 0; token < active; ++token) {
    edits.allowed.push_back(std::ranges::count(config.allowed_token_ids, token) > 0);
  }
}

}  // namespace tokkos::test
