// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/step_input.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "fuzz/trees_input.hpp"

namespace tokkos::test {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float tiny = std::numeric_limits<float>::denorm_min();
constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();

TokenId fuzz_token(FuzzBytes& bytes, std::int64_t vocabulary) {
  const auto token = static_cast<TokenId>(bytes.byte() % std::min<std::int64_t>(vocabulary, 11));
  const auto last = static_cast<TokenId>(vocabulary - 1);
  return bytes.mostly<TokenId>({token, token, token, last}, {-1, last + 1, largest, -largest - 1});
}

/// The same for a history, which refuses negative tokens itself.
TokenId history_token(FuzzBytes& bytes, std::int64_t vocabulary) {
  const TokenId token = fuzz_token(bytes, vocabulary);
  return token < 0 ? 0 : token;
}

std::vector<TokenId> fuzz_tokens(FuzzBytes& bytes, std::int64_t vocabulary, int most) {
  std::vector<TokenId> tokens(static_cast<std::size_t>(bytes.below(most + 1)));
  for (TokenId& token : tokens) token = fuzz_token(bytes, vocabulary);
  return tokens;
}

void fill_bans(FuzzBytes& bytes, std::int64_t vocabulary, GenerationConfig& config) {
  if (bytes.flag()) config.banned_token_ids = fuzz_tokens(bytes, vocabulary, 3);
  if (bytes.flag()) {
    config.end_token_ids = fuzz_tokens(bytes, vocabulary, 2);
    config.min_tokens = bytes.mostly({0, 3, 20}, {-1, -largest - 1});
  }
  config.no_repeat_ngram_size = bytes.mostly({0, 0, 1, 2, 3}, {-1, -largest - 1});
  const int words = bytes.below(8) - 5;
  for (int i = 0; i < words; ++i) {
    config.bad_words.push_back(fuzz_tokens(bytes, vocabulary, 2));
    if (!bytes.rarely()) config.bad_words.back().push_back(fuzz_token(bytes, vocabulary));
  }
  if (bytes.below(4) == 3) config.allowed_token_ids = fuzz_tokens(bytes, vocabulary, 8);
}

GenerationConfig fuzz_config(FuzzBytes& bytes, std::int64_t vocabulary) {
  GenerationConfig config;
  config.temperature = bytes.mostly({1.0f, 0.0f, 1e-5f, 1.1e-5f, 0.3f, 1.5f, tiny, -0.0f},
                                    {nan, -1.0f, infinity, -infinity, -tiny});
  config.top_k = bytes.mostly({0, 1, 3, largest}, {-1, -largest - 1});
  config.top_p = bytes.mostly({1.0f, 0.5f, 0.9999999f, 0.01f, tiny}, {0.0f, nan, -1.0f, 1.01f});
  config.min_p = bytes.mostly({0.0f, 0.1f, 1.0f, tiny}, {nan, -tiny, 1.01f, infinity});
  config.seed = bytes.byte();
  if (bytes.flag()) {
    config.presence_penalty = bytes.mostly({0.0f, 0.5f, -0.75f, 2.0f}, {nan, infinity, -infinity});
    config.frequency_penalty = bytes.mostly({0.0f, 0.25f, -0.5f}, {nan, infinity, -infinity});
    config.repetition_penalty =
        bytes.mostly({1.0f, 1.3f, 0.8f, 1e-30f, 1e30f, tiny}, {nan, infinity, 0.0f, -1.0f, -tiny});
    config.penalty_policy = bytes.mostly<PenaltyPolicy>(
        {PenaltyPolicy::seed, PenaltyPolicy::openai, PenaltyPolicy::hugging_face,
         PenaltyPolicy::llama_cpp},
        {static_cast<PenaltyPolicy>(77), static_cast<PenaltyPolicy>(-1)});
    config.penalty_window = bytes.mostly({64, -1, 0, 1, 3}, {-2, -largest - 1});
  }
  const int biases = bytes.below(5);
  for (int i = 0; i < biases; ++i) {
    const double bias = bytes.mostly<double>(
        {static_cast<double>(bytes.byte() - 128) / 4, 0.0, -HUGE_VAL, 0x1.fffffe8p127},
        {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, 1e39, -1e300, -0x1.ffffffp127});
    config.logit_bias.emplace_back(fuzz_token(bytes, vocabulary), bias);
  }
  fill_bans(bytes, vocabulary, config);
  return config;
}

TokenHistory fuzz_history(FuzzBytes& bytes, std::int64_t vocabulary) {
  std::vector<TokenId> prompt(static_cast<std::size_t>(bytes.below(6)));
  for (TokenId& token : prompt) token = history_token(bytes, vocabulary);
  TokenHistory history(std::move(prompt));
  const int generated = bytes.below(8);
  for (int i = 0; i < generated; ++i) history.commit(history_token(bytes, vocabulary));
  if (bytes.flag()) history.rollback(static_cast<std::size_t>(generated / 2));
  return history;
}

/// Adds requests with their rows; the arrays that go over all requests are damaged below.
void add_requests(FuzzBytes& bytes, RandomStep& result) {
  const bool long_row = result.vocabulary > 10000;
  const bool drafts = bytes.flag(), several = bytes.flag() && !long_row;
  std::vector<std::int32_t> cum = {0};
  std::vector<DraftTree> trees;
  std::vector<std::vector<std::int32_t>> indices;
  const int requests = long_row ? 1 : bytes.below(4);
  for (int i = 0; i < requests; ++i) {
    ScriptedGrammar* grammar = nullptr;
    if (bytes.flag()) {
      grammar = &result.grammars.emplace_back(bytes.byte(), result.active, !bytes.rarely());
      if (bytes.flag()) grammar->commit(history_token(bytes, result.vocabulary));
    }
    result.step.add(fuzz_config(bytes, result.vocabulary), fuzz_history(bytes, result.vocabulary),
                    grammar);
    if (bytes.rarely()) result.step.states.back().history = nullptr;
    std::vector<std::int32_t> rows(several ? static_cast<std::size_t>(bytes.below(4)) : 1, -1);
    trees.emplace_back();
    if (drafts) {
      auto made = make_draft_trees(bytes, static_cast<int>(result.vocabulary), 5);
      if (!made.empty()) trees.back() = made.front();
      const auto nodes = static_cast<std::int32_t>(trees.back().size());
      for (std::int32_t& row : rows) {
        row = bytes.mostly<std::int32_t>({bytes.below(nodes + 1) - 1}, {-2, nodes, largest});
      }
      if (bytes.rarely()) rows.push_back(-1);
    }
    cum.push_back(cum.back() + static_cast<std::int32_t>(rows.size()));
    indices.push_back(rows);
  }
  result.rows = cum.back();
  if (several) result.step.cum_num_token = cum;
  if (drafts) {
    result.step.trees = trees;
    result.step.indices = indices;
  }
}

void damage_arrays(FuzzBytes& bytes, RandomStep& result) {
  OwnedStep& step = result.step;
  switch (bytes.below(8)) {
    case 0:
      if (step.cum_num_token) {
        auto& cum = *step.cum_num_token;
        cum[bytes.byte() % cum.size()] += bytes.one_of({1, -1, largest / 2, -largest / 2});
      }
      break;
    case 1:
      step.ids.pop_back();
      break;
    case 2:
      step.states.pop_back();
      break;
    case 3:
      if (step.trees) step.trees->pop_back();
      break;
    case 4:
      step.indices.reset();
      break;
    case 5:
      step.trees.reset();
      break;
    case 6:
      result.rows += 1;
      break;
    default:
      if (step.cum_num_token) step.cum_num_token->push_back(step.cum_num_token->back());
  }
}

void fill_logits(FuzzBytes& bytes, FuzzStep& fuzz) {
  const auto width = static_cast<std::size_t>(fuzz.step->vocabulary);
  fuzz.logits.resize(static_cast<std::size_t>(fuzz.step->rows) * width);
  std::uint32_t state = bytes.byte() + 1u;
  for (float& x : fuzz.logits) {
    state = state * 1664525u + 1013904223u;
    x = (static_cast<float>(state >> 16) * 0x1p-16f - 0.5f) * 40;
    x = static_cast<float>(static_cast<int>(x * 8)) / 8;
  }
  if (fuzz.logits.empty()) return;
  const int special = bytes.below(8) - 3;
  for (int i = 0; i < special; ++i) {
    fuzz.logits[bytes.word() % fuzz.logits.size()] =
        bytes.one_of({-infinity, nan, infinity, FLT_MAX, -FLT_MAX, -0.0f, 1e34f, tiny, 20.0f});
  }
}

}  // namespace

FuzzStep make_fuzz_step(FuzzBytes& bytes) {
  FuzzStep fuzz;
  fuzz.step = std::make_unique<RandomStep>();
  RandomStep& step = *fuzz.step;
  // Two chunks take as long as a hundred rows of the others. A row of ten is shared by threads.
  step.vocabulary = bytes.mostly<std::int64_t>({33, 1, 5, 70, 32, 100, 2}, {4100, 40960});
  step.active = step.vocabulary - (bytes.flag() ? bytes.byte() % step.vocabulary : 0);
  fuzz.stored_as = bytes.one_of({StoredAs::float32, StoredAs::bfloat16, StoredAs::float16});
  fuzz.draws = !bytes.rarely();
  fuzz.truncates = bytes.flag();
  fuzz.stores_mask = bytes.flag();
  const bool philox = bytes.flag();
  add_requests(bytes, step);
  if (bytes.rarely() && !step.step.configs.empty()) damage_arrays(bytes, step);
  if (!philox || !fuzz.draws) {
    fuzz.uniforms.resize(static_cast<std::size_t>(step.rows));
    for (float& u : fuzz.uniforms) {
      u = bytes.mostly({static_cast<float>(bytes.word()) * 0x1p-16f, 0.0f, 1.0f - 0x1p-24f},
                       {1.0f, -tiny, nan, infinity});
    }
    if (bytes.rarely()) fuzz.uniforms.push_back(0.5f);
  }
  fill_logits(bytes, fuzz);
  fuzz.scores = bytes.flag();
  fuzz.listed = static_cast<std::size_t>(bytes.one_of({0, 1, 3, 128, 20}));
  // Where nothing is drawn, a step that is prepared needs more than one that is not.
  fuzz.prepares = bytes.flag() && fuzz.draws;
  return fuzz;
}

}  // namespace tokkos::test
