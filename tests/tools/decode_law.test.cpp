// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/generator.hpp"

#include "reference/chi_square.hpp"
#include "tools/text_law.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
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

// What a request is given, and the law of its texts.
struct Law {
  test::TextLaw texts;
  std::string constraint;  // empty or "words": a, b and c alone
};

// Counts of the law's outcomes, in their order; every text has to be one of them.
void check_against(const std::map<std::vector<int>, double>& law,
                   const std::map<std::vector<int>, int>& seen, int samples) {
  std::vector<double> probabilities;
  std::vector<std::int64_t> counts;
  std::int64_t counted = 0;
  for (const auto& [tokens, probability] : law) {
    probabilities.push_back(probability);
    counts.push_back(seen.contains(tokens) ? seen.at(tokens) : 0);
    counted += counts.back();
  }
  REQUIRE(counted == samples);
  const test::OutcomeGroups groups(probabilities, samples);
  REQUIRE(groups.degrees() >= 8);
  const double statistic = groups.against_law(counts);
  INFO("chi-square " << statistic << " with " << groups.degrees() << " degrees of freedom");
  CHECK(statistic < test::chi_square_quantile(1e-6, groups.degrees()));
}

GeneratorSettings settings_for(const Law& law, const std::string& tree, std::size_t batch) {
  GeneratorSettings settings;
  RequestSettings request{law.texts.config, law.texts.prompt, nullptr};
  if (!law.constraint.empty()) {
    request.rule =
        std::make_shared<const ConstraintRule>(parse_constraint(law.constraint, vocabulary()));
  }
  settings.requests.assign(batch, request);
  settings.max_tokens = length;
  settings.speculate = !tree.empty();
  if (settings.speculate) settings.tree = parse_tree_shape(tree);
  return settings;
}

Law plain() {
  Law law;
  law.texts.text = text;
  law.texts.vocabulary = vocabulary_size;
  law.texts.words = {0, 1, 2, 3, 4};
  return law;
}

Law words() {
  Law law = plain();
  GenerationConfig& config = law.texts.config;
  config.temperature = 1.3f;
  config.presence_penalty = 0.4f;
  config.frequency_penalty = 0.25f;
  config.repetition_penalty = 1.25f;
  config.logit_bias = {{2, 0.5}, {4, -1.0}};
  law.constraint = "words";
  law.texts.words = {1, 2, 3};
  return law;
}

// A window that drafts push tokens out of, and pairs that are banned along each path.
Law recent() {
  Law law = plain();
  GenerationConfig& config = law.texts.config;
  config.temperature = 2.5f;
  config.penalty_policy = PenaltyPolicy::llama_cpp;
  config.penalty_window = 2;
  config.presence_penalty = 0.6f;
  config.frequency_penalty = 0.4f;
  config.repetition_penalty = 1.5f;
  config.no_repeat_ngram_size = 2;
  law.texts.prompt = {1, 2, 1};
  return law;
}

// Each of the three limits cuts something after some text, and none of them by a hair.
Law few() {
  Law law = plain();
  law.texts.config = words().texts.config;
  law.texts.config.temperature = 3.0f;
  law.texts.config.top_k = 4;
  law.texts.config.top_p = 0.87f;
  law.texts.config.min_p = 0.2f;
  return law;
}

}  // namespace

// On one backend: the others give the same texts, which is a test of its own.
TEST_CASE("generated texts follow the target model's law, with drafts and without") {
  // The widest tree asks for more siblings than `words` leaves tokens.
  const std::string tree = GENERATE(std::string(""), "chain:2", "2x2", "4x1");
  const Law law = GENERATE(plain(), words(), few(), recent());
  const GenerationConfig& config = law.texts.config;
  CAPTURE(tree, law.constraint, config.temperature, config.top_k, config.penalty_window);
  constexpr int batch = 500;
  GeneratorSettings settings = settings_for(law, tree, batch);
  const NgramModel target(text, vocabulary_size, 4);
  const NgramModel draft(text, vocabulary_size, 2);
  std::map<std::vector<int>, int> seen;
  constexpr int runs = 10;
  for (int run = 0; run < runs; ++run) {
    for (RequestSettings& request : settings.requests) {
      request.config.seed = static_cast<std::uint64_t>(run) + 1;
    }
    Generator<Kokkos::Serial> generator(Kokkos::Serial(), target, draft, settings);
    while (generator.step()) {
    }
    for (const DecodeRequest& request : generator.requests()) {
      const auto generated = request.history.generated();
      ++seen[std::vector<int>(generated.begin(), generated.end())];
    }
    REQUIRE(generator.statistics().bad_rows == 0);
    REQUIRE(generator.statistics().tokens == batch * length);
  }
  check_against(test::exact_law(law.texts, length), seen, runs * batch);
}
