// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "lm_head/head_case.hpp"

#include "reference/random_values.hpp"

#include <cmath>
#include <set>
#include <utility>

namespace tokkos::test {

namespace {

template <class T>
std::vector<T> rows_of(const std::vector<T>& all, std::int64_t width, std::int64_t begin,
                       std::int64_t count) {
  if (all.empty()) return {};
  const auto first = all.begin() + begin * width;
  return {first, first + count * width};
}

template <class T>
void extend(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

HeadCase HeadCase::part(std::int64_t begin, std::int64_t count) const {
  HeadCase other = *this;
  other.rows = count;
  other.hidden = rows_of(hidden, size, begin, count);
  if (temperature.size() > 1) other.temperature = rows_of(temperature, 1, begin, count);
  other.uniforms = rows_of(uniforms, 1, begin, count);
  other.penalties = rows_of(penalties, 3, begin, count);
  other.policies = rows_of(policies, 1, begin, count);
  if (mask_index.empty()) {
    other.words = rows_of(words, mask_width(), begin, count);
  } else {
    other.mask_index = rows_of(mask_index, 1, begin, count);
  }
  other.given = rows_of(given, given_columns(), begin, count);
  other.edits.clear();
  for (HeadEdit edit : edits) {
    if (edit.row < begin || edit.row >= begin + count) continue;
    edit.row -= static_cast<std::int32_t>(begin);
    other.edits.push_back(edit);
  }
  return other;
}

HeadCase plain_case(std::int64_t rows, std::int64_t vocabulary, std::int64_t size,
                    std::uint64_t seed) {
  RandomValues random(seed);
  HeadCase head;
  head.rows = rows;
  head.vocabulary = vocabulary;
  head.size = size;
  head.hidden = random.logits(rows * size, 1.0f);
  head.weight = random.logits(vocabulary * size, 3.0f / std::sqrt(static_cast<float>(size)));
  head.uniforms = random.uniforms(rows);
  head.top = 5;
  for (std::int64_t i = 0; i < rows * 3; ++i) {
    head.given.push_back(static_cast<TokenId>(random.below(vocabulary)));
  }
  head.given[0] = -1;
  return head;
}

HeadCase full_case(std::int64_t rows, std::int64_t vocabulary, std::int64_t size,
                   std::uint64_t seed) {
  HeadCase head = plain_case(rows, vocabulary, size, seed);
  RandomValues random(seed + 1);
  head.temperature.clear();
  constexpr float temperatures[] = {1.0f, 0.7f, 0.0f, 1.5f, 0.3f};
  constexpr float penalties[] = {0.5f, 0.25f, 1.25f, -0.5f, 0.0f, 0.8f, 0.0f, 0.0f, 1.0f};
  std::set<std::pair<std::int64_t, std::int64_t>> edited;
  for (std::int64_t i = 0; i < rows; ++i) {
    head.temperature.push_back(temperatures[i % 5]);
    for (int j = 0; j < 3; ++j) head.penalties.push_back(penalties[(i % 3) * 3 + j]);
    head.policies.push_back(static_cast<std::int32_t>(i % 4));
    for (int j = 0; j < 40; ++j) {
      const std::int64_t token = random.below(vocabulary);
      if (!edited.emplace(i, token).second) continue;
      HeadEdit edit{static_cast<std::int32_t>(i), static_cast<std::int32_t>(token)};
      if (j % 2 == 0) edit.count = 1 + static_cast<std::int32_t>(random.below(3));
      edit.bias = j % 7 == 0 ? -INFINITY : 8.0f * random.uniform() - 2.0f;
      head.edits.push_back(edit);
    }
    head.mask_index.push_back(i % 3 == 1 ? -1 : static_cast<std::int32_t>(i % 2));
  }
  head.words = random.words(2 * head.mask_width(), 3);
  head.options.active_vocabulary = vocabulary - 77;
  head.options.scale = 0.75f;
  head.options.soft_cap = 6.0f;
  return head;
}

void HeadResults::append(const HeadResults& more) {
  extend(tokens, more.tokens);
  extend(token_logprobs, more.token_logprobs);
  extend(log_sum_exp, more.log_sum_exp);
  extend(given_logprobs, more.given_logprobs);
  extend(top_tokens, more.top_tokens);
  extend(top_logprobs, more.top_logprobs);
  extend(status, more.status);
}

}  // namespace tokkos::test
