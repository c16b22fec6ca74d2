// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/generator.hpp"

#include "tools/ngram_reference.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace tokkos;
using namespace tokkos::tools;

namespace {

// "a b a c a b c. a b b c a. c a" with the paragraph break as 0, a = 1, b = 2, c = 3, "." = 4
const std::vector<TokenId> text = {0, 1, 2, 1, 3, 1, 2, 3, 4, 1, 2, 2, 3, 1, 4, 3, 1, 0};
constexpr int vocabulary_size = 5;
constexpr int length = 3;

Vocabulary vocabulary() {
  Vocabulary words;
  for (const char* word : {"a", "b", "c", "."}) words.add(word);
  return words;
}

struct Law {
  GenerationConfig config;
  std::string constraint;   // empty or "words": a, b and c alone
  std::vector<int> prompt;  // counted by the policy llama_cpp alone
};

// Whether some two tokens of the text stand there a second time once it goes on with `token`.
bool repeats_pair(const std::vector<int>& tokens, int token) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i] == tokens.back() && tokens[i + 1] == token) return true;
  }
  return false;
}

// A logit after the penalties of the policies seed and llama_cpp.
double penalized(double x, const Law& law, const std::vector<int>& generated, int token) {
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

// The distribution of the next token by the definitions, in double.
std::vector<double> next_token(const Law& law, const std::vector<int>& generated) {
  std::vector<int> context = {0};
  context.insert(context.end(), law.prompt.begin(), law.prompt.end());
  context.insert(context.end(), generated.begin(), generated.end());
  std::vector<double> p(vocabulary_size, 0.0);
  for (int token = 0; token < vocabulary_size; ++token) {
    if (!law.constraint.empty() && (token == 0 || token == 4)) continue;
    if (law.config.no_repeat_ngram_size == 2 &&
        repeats_pair({context.begin() + 1, context.end()}, token))
      continue;
    double x = std::log(test::ngram_probability(text, vocabulary_size, 4, context, token));
    for (const auto& [biased, bias] : law.config.logit_bias) x += biased == token ? bias : 0.0;
    x = penalized(x, law, generated, token);
    p[static_cast<std::size_t>(token)] = std::exp(x / law.config.temperature);
  }
  return truncated(p, law.config);
}

// Probability of every text of `length` tokens.
std::map<std::vector<int>, double> exact_law(const Law& law) {
  std::map<std::vector<int>, double> texts = {{{}, 1.0}};
  for (int i = 0; i < length; ++i) {
    std::map<std::vector<int>, double> longer;
    for (const auto& [generated, probability] : texts) {
      const std::vector<double> p = next_token(law, generated);
      for (int token = 0; token < vocabulary_size; ++token) {
        std::vector<int> next = generated;
        next.push_back(token);
        longer[next] = probability * p[static_cast<std::size_t>(token)];
      }
    }
    texts = std::move(longer);
  }
  return texts;
}

// Value that a chi-square variable exceeds with probability 1e-6 (Wilson and Hilferty 1931).
double chi_square_bound(double degrees) {
  constexpr double z = 4.753424;
  const double s = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1.0 - s + z * std::sqrt(s), 3.0);
}

// Cells with fewer than 8 expected texts are counted as one.
void check_against(const std::map<std::vector<int>, double>& law,
                   const std::map<std::vector<int>, int>& seen, int samples) {
  double statistic = 0.0;
  double rare_expected = 0.0;
  double rare_seen = 0.0;
  int cells = 0;
  const auto add = [&](double expected, double count) {
    statistic += (count - expected) * (count - expected) / expected;
    ++cells;
  };
  for (const auto& [tokens, probability] : law) {
    const double expected = probability * samples;
    const double count = seen.contains(tokens) ? seen.at(tokens) : 0;
    if (probability == 0.0) REQUIRE(count == 0);
    if (expected >= 8.0) {
      add(expected, count);
    } else {
      rare_expected += expected;
      rare_seen += count;
    }
  }
  if (rare_expected >= 8.0) add(rare_expected, rare_seen);
  INFO("chi-square " << statistic << " with " << cells - 1 << " degrees of freedom");
  REQUIRE(cells > 8);
  CHECK(statistic < chi_square_bound(cells - 1));
}

GeneratorSettings settings_for(const Law& law, const std::string& tree) {
  GeneratorSettings settings;
  settings.config = law.config;
  settings.prompt = law.prompt;
  if (!law.constraint.empty()) {
    settings.rule =
        std::make_shared<const ConstraintRule>(parse_constraint(law.constraint, vocabulary()));
  }
  settings.max_tokens = length;
  settings.speculate = !tree.empty();
  if (settings.speculate) settings.tree = parse_tree_shape(tree);
  return settings;
}

Law plain() {
  return {};
}

Law words() {
  Law law;
  law.config.temperature = 1.3f;
  law.config.presence_penalty = 0.4f;
  law.config.frequency_penalty = 0.25f;
  law.config.repetition_penalty = 1.25f;
  law.config.logit_bias = {{2, 0.5}, {4, -1.0}};
  law.constraint = "words";
  return law;
}

// A window that drafts push tokens out of, and pairs that are banned along each path.
Law recent() {
  Law law;
  law.config.temperature = 2.5f;
  law.config.penalty_policy = PenaltyPolicy::llama_cpp;
  law.config.penalty_window = 2;
  law.prompt = {1, 2, 1};
  law.config.presence_penalty = 0.6f;
  law.config.frequency_penalty = 0.4f;
  law.config.repetition_penalty = 1.5f;
  law.config.no_repeat_ngram_size = 2;
  return law;
}

// Each of the three limits cuts something after some text, and none of them by a hair.
Law few() {
  Law law = words();
  law.constraint = "";
  law.config.temperature = 3.0f;
  law.config.top_k = 4;
  law.config.top_p = 0.87f;
  law.config.min_p = 0.2f;
  return law;
}

}  // namespace

// On one backend: the others give the same texts, which is a test of its own.
TEST_CASE("generated texts follow the target model's law, with drafts and without") {
  // The widest tree asks for more siblings than `words` leaves tokens.
  const std::string tree = GENERATE(std::string(""), "chain:2", "2x2", "4x1");
  const Law law = GENERATE(plain(), words(), few(), recent());
  CAPTURE(tree, law.constraint, law.config.temperature, law.config.top_k,
          law.config.penalty_window);
  GeneratorSettings settings = settings_for(law, tree);
  settings.batch = 500;
  const NgramModel target(text, vocabulary_size, 4);
  const NgramModel draft(text, vocabulary_size, 2);
  std::map<std::vector<int>, int> seen;
  constexpr int runs = 10;
  for (int run = 0; run < runs; ++run) {
    settings.config.seed = static_cast<std::uint64_t>(run) + 1;
    Generator<Kokkos::Serial> generator(Kokkos::Serial(), target, draft, settings);
    while (generator.step()) {
    }
    for (const DecodeRequest& request : generator.requests()) {
      const auto generated = request.history.generated();
      ++seen[std::vector<int>(generated.begin(), generated.end())];
    }
    REQUIRE(generator.statistics().bad_rows == 0);
    REQUIRE(generator.statistics().tokens == settings.batch * length);
  }
  check_against(exact_law(law), seen, runs * settings.batch);
}

TEST_CASE("the bound of the chi-square test is that of tables") {
  // Quantiles of 10, 30 and 100 degrees of freedom; the approximation lies a little above.
  CHECK(std::abs(chi_square_bound(10) - 46.863) < 1.2);
  CHECK(std::abs(chi_square_bound(30) - 82.044) < 0.7);
  CHECK(std::abs(chi_square_bound(100) - 182.127) < 0.4);
}
