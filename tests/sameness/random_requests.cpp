// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "sameness/random_requests.hpp"

#include "reference/random_values.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace tokkos::test {

namespace {

GenerationConfig random_config(RandomValues& random, std::int64_t vocabulary) {
  const float temperatures[] = {0.0f, 1e-5f, 1.1e-5f, 1.0f, 1000.0f};
  GenerationConfig config;
  const auto choice = random.below(10);
  config.temperature = choice < 5 ? temperatures[choice] : 0.05f + 2.0f * random.uniform();
  if (random.below(2) == 0) {
    config.top_k = static_cast<std::int32_t>(random.below(vocabulary + 2) >> random.below(8));
    config.top_p = random.below(2) == 0 ? 1.0f : 1.0f - random.uniform();
    config.min_p = random.below(2) == 0 ? 0.0f : 0.3f * random.uniform();
  }
  if (random.below(3) != 0) {
    config.presence_penalty = 2.0f * random.uniform() - 0.5f;
    config.frequency_penalty = random.below(2) == 0 ? 0.0f : random.uniform();
    config.repetition_penalty = 0.6f + random.uniform();
  }
  std::set<TokenId> biased;
  for (std::int64_t i = random.below(9); i > 0; --i) {
    biased.insert(static_cast<TokenId>(random.below(vocabulary)));
  }
  for (const TokenId token : biased) {
    const float bias = random.below(8) == 0 ? -std::numeric_limits<float>::infinity()
                                            : 20.0f * random.uniform() - 10.0f;
    config.logit_bias.emplace_back(token, bias);
  }
  return config;
}

/// One row in twenty is of no use.
void poison(RandomValues& random, std::int64_t active, std::vector<float>& row) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float& token = row[static_cast<std::size_t>(random.below(active))];
  const auto way = random.below(60);
  if (way == 0) token = std::numeric_limits<float>::quiet_NaN();
  if (way == 1) token = infinity;
  if (way == 2) std::ranges::fill(row, -infinity);
}

}  // namespace

Requests random_requests(std::int64_t count, std::int64_t vocabulary) {
  RandomValues random(static_cast<std::uint64_t>(vocabulary) + 50);
  Requests requests;
  requests.vocabulary = vocabulary;
  requests.active = vocabulary - vocabulary / 30;
  for (std::int64_t i = 0; i < count; ++i) {
    requests.configs.push_back(random_config(random, vocabulary));
    TokenHistory history;
    for (std::int64_t k = random.below(30); k > 0; --k) {  // few tokens, some of them biased
      const bool repeats = random.below(2) == 0;
      history.commit(static_cast<TokenId>(
          random.below(repeats ? std::min<std::int64_t>(vocabulary, 8) : vocabulary)));
    }
    requests.histories.push_back(history);
    requests.mask_of.push_back(nullptr);
    if (random.below(3) != 0) {
      const auto words =
          random.words((vocabulary + 31) / 32, 1 + static_cast<int>(random.below(9)));
      requests.mask_of.back() = &requests.masks.emplace_back(words);
    }
    auto row = random.logits(vocabulary, 0.1f + 12.0f * random.uniform());
    poison(random, requests.active, row);
    requests.logits.insert(requests.logits.end(), row.begin(), row.end());
  }
  requests.uniforms = random.uniforms(count);
  return requests;
}

OwnedStep step_of(const Requests& requests, const std::vector<std::int64_t>& rows) {
  OwnedStep step;
  for (const std::int64_t row : rows) {
    const auto i = static_cast<std::size_t>(row);
    step.add(requests.configs[i], requests.histories[i], requests.mask_of[i]);
  }
  return step;
}

}  // namespace tokkos::test
