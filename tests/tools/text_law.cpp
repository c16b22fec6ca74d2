// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/text_law.hpp"

#include "tools/ngram_reference.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace tokkos::test {

namespace {

// Whether some two tokens of the text stand there a second time once it goes on with `token`.
bool repeats_pair(const std::vector<int>& tokens, int token) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i] == tokens.back() && tokens[i + 1] == token) return true;
  }
  return false;
}

// A logit after the penalties of the policies seed and llama_cpp.
double penalized(double x, const TextLaw& law, const std::vector<int>& generated, int token) {
  const GenerationConfig& config = law.config;
  const bool by_window = config.penalty_policy == PenaltyPolicy::llama_cpp;
  std::vector<int> counted = generated;
  if (by_window) {
    counted.insert(counted.begin(), law.prompt.begin(), law.prompt.end());
    while (std::ssize(counted) > config.penalty_window) counted.erase(counted.begin());
  }
  const auto count = std::ranges::count(counted, token);
  if (count == 0) return x;
  const double subtracted =
      config.presence_penalty + static_cast<double>(count) * config.frequency_penalty;
  if (!by_window) x -= subtracted;
  x = x < 0 ? x * config.repetition_penalty : x / config.repetition_penalty;
  return by_window ? x - subtracted : x;
}

// top-k, then top-p of what it left, then min-p, renormalized. Equally probable words stand in the
// order of their numbers.
std::vector<double> truncated(std::vector<double> p, const GenerationConfig& config) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  if (config.top_k > 0) {
    for (std::size_t i = static_cast<std::size_t>(config.top_k); i < order.size(); ++i) {
      p[order[i]] = 0.0;
    }
  }
  const double all = std::accumulate(p.begin(), p.end(), 0.0);
  double before = 0.0;
  const double largest = p[order[0]];
  double sum = 0.0;
  for (const std::size_t token : order) {
    const double share = p[token];
    const bool kept = config.top_p == 1.0f || before < static_cast<double>(config.top_p) * all;
    before += share;
    if (!kept || share < static_cast<double>(config.min_p) * largest) p[token] = 0.0;
    sum += p[token];
  }
  for (double& value : p) value /= sum;
  return p;
}

}  // namespace

std::vector<double> next_token(const TextLaw& law, const std::vector<int>& generated) {
  std::vector<int> context = {0};  // a paragraph break stands before the prompt
  context.insert(context.end(), law.prompt.begin(), law.prompt.end());
  context.insert(context.end(), generated.begin(), generated.end());
  std::vector<double> p(static_cast<std::size_t>(law.vocabulary), 0.0);
  for (const int token : law.words) {
    if (law.config.no_repeat_ngram_size == 2 &&
        repeats_pair({context.begin() + 1, context.end()}, token)) {
      continue;
    }
    double x = std::log(ngram_probability(law.text, law.vocabulary, law.order, context, token));
    for (const auto& [biased, bias] : law.config.logit_bias) x += biased == token ? bias : 0.0;
    x = penalized(x, law, generated, token);
    p[static_cast<std::size_t>(token)] = std::exp(x / law.config.temperature);
  }
  return truncated(p, law.config);
}

std::map<std::vector<int>, double> exact_law(const TextLaw& law, int length) {
  std::map<std::vector<int>, double> texts = {{{}, 1.0}};
  for (int i = 0; i < length; ++i) {
    std::map<std::vector<int>, double> longer;
    for (const auto& [generated, probability] : texts) {
      const std::vector<double> p = next_token(law, generated);
      for (const int token : law.words) {
        const double share = p[static_cast<std::size_t>(token)];
        if (share == 0.0) continue;
        std::vector<int> next = generated;
        next.push_back(token);
        longer[next] = probability * share;
      }
    }
    texts = std::move(longer);
  }
  return texts;
}

}  // namespace tokkos::test
