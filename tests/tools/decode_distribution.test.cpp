// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Speculative and plain decoding of a model of a real text, with penalties, top-p and a mask, give
// the same distribution of texts: that of the definitions.
#include "tools/decode/corpus.hpp"
#include "tools/decode/generator.hpp"

#include <catch2/catch_test_macros.hpp>

#include "reference/chi_square.hpp"
#include "tools/licence.hpp"
#include "tools/text_law.hpp"

#include <algorithm>
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

constexpr int length = 3;
constexpr double alpha = 1e-6;
constexpr int batch = 1000;

using Outcomes = std::map<std::vector<int>, double>;
using Counts = std::map<std::vector<int>, std::int64_t>;

// Ten words of the licence that follow each other in many ways.
struct Setting {
  Corpus corpus;
  test::TextLaw law;
  std::shared_ptr<const ConstraintRule> rule;

  Setting() {
    corpus = read_corpus(std::vector<std::string>{test::licence});
    law.text = corpus.tokens;
    law.vocabulary = corpus.vocabulary.size();
    law.prompt = corpus.tokenize("prompt", "copies of");
    ConstraintRule ten;
    ten.open_end = true;
    ten.allowed.emplace_back((static_cast<std::size_t>(law.vocabulary) + 31) / 32, 0);
    for (const char* word : {"the", "of", "Work", "or", "any", ",", "to", "and", "in", "this"}) {
      const TokenId token = corpus.vocabulary.find(word).value();
      law.words.push_back(token);
      ten.allowed[0][static_cast<std::size_t>(token) / 32] |= std::int32_t{1} << (token % 32);
    }
    std::ranges::sort(law.words);
    rule = std::make_shared<const ConstraintRule>(ten);
    law.config.temperature = 2.0f;
    law.config.top_p = 0.95f;
    law.config.presence_penalty = 0.3f;
    law.config.frequency_penalty = 0.4f;
    law.config.repetition_penalty = 1.2f;
  }
};

// How often each text was generated. Each run has a random stream of its own.
// @param tree of the drafts, empty: none
Counts sampled(const Setting& setting, const std::string& tree, int runs, std::uint64_t seed) {
  const NgramModel target(setting.corpus.tokens, setting.law.vocabulary, setting.law.order);
  const NgramModel draft(setting.corpus.tokens, setting.law.vocabulary, 1);
  GeneratorSettings settings;
  settings.requests.assign(batch, {setting.law.config, setting.law.prompt, setting.rule});
  settings.max_tokens = length;
  settings.speculate = !tree.empty();
  if (settings.speculate) settings.tree = parse_tree_shape(tree);
  Counts seen;
  std::int64_t accepted = 0;
  for (int done = 0; done < runs; done += batch, ++seed) {
    for (RequestSettings& request : settings.requests) request.config.seed = seed;
    const Kokkos::DefaultExecutionSpace space;
    Generator<Kokkos::DefaultExecutionSpace> generator(space, target, draft, settings);
    while (generator.step()) {
    }
    for (const DecodeRequest& request : generator.requests()) {
      const auto text = request.history.generated();
      ++seen[std::vector<int>(text.begin(), text.end())];
    }
    accepted += generator.statistics().accepted;
  }
  if (!tree.empty()) {  // many drafts of either fate
    CHECK(accepted > runs / 2);
    CHECK(accepted < 2 * runs - runs / 5);
  }
  return seen;
}

// In the order of the law's outcomes.
std::vector<std::int64_t> counts_of(const Outcomes& law, const Counts& seen) {
  std::vector<std::int64_t> counts;
  for (const auto& [text, probability] : law) {
    counts.push_back(seen.contains(text) ? seen.at(text) : 0);
  }
  return counts;
}

std::vector<double> probabilities_of(const Outcomes& law) {
  std::vector<double> probabilities;
  for (const auto& [text, probability] : law) probabilities.push_back(probability);
  return probabilities;
}

// A law that is as hard to tell from the given one as any that differs so much from it.
Outcomes moved(Outcomes law, double difference) {
  double up = 0.0;
  double down = 0.0;
  std::vector<bool> goes_up;
  for (const auto& [text, probability] : law) {
    goes_up.push_back(up <= down);
    (goes_up.back() ? up : down) += probability;
  }
  auto more = goes_up.begin();
  for (auto& [text, probability] : law) {
    probability *= *more++ ? 1.0 + difference / up : 1.0 - difference / down;
  }
  return law;
}

// Whether no run came out as the law does not allow it, and the others as often as it says.
bool follows(const Counts& seen, const Outcomes& law, int runs) {
  const std::vector<std::int64_t> counts = counts_of(law, seen);
  if (std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) != runs) return false;
  const test::OutcomeGroups groups(probabilities_of(law), runs);
  return groups.against_law(counts) < test::chi_square_quantile(alpha, groups.degrees());
}

// Definitions that leave out what the setting has.
std::vector<test::TextLaw> wrong_laws(const Setting& setting) {
  std::vector<test::TextLaw> laws(5, setting.law);
  laws[0].config.presence_penalty = 0.0f;
  laws[1].config.frequency_penalty = 0.0f;
  laws[2].config.repetition_penalty = 1.0f;
  laws[3].config.top_p = 1.0f;
  laws[4].order = 1;
  return laws;
}

// Of `runs` runs each, with drafts and without.
// @param difference in total variation that such samples tell with a probability of at least 0.99
void check_agreement(const std::string& tree, int runs, double difference) {
  const Setting setting;
  const Outcomes law = test::exact_law(setting.law, length);
  const std::vector<double> probabilities = probabilities_of(law);
  const test::OutcomeGroups groups(probabilities, runs);
  const double bound = test::chi_square_quantile(alpha, groups.degrees());
  const double power = groups.power_against_law(difference, alpha);
  const double power_of_two = groups.power_against_each_other(difference, alpha);
  WARN(runs << " runs each, " << law.size() << " outcomes, level " << alpha
            << ": where texts differ by " << difference << " in total variation, the test against "
            << "the law misses it with probability " << 1.0 - power << " or less, the test of both "
            << "against each other with " << 1.0 - power_of_two);
  REQUIRE(law.size() > 100);
  CHECK(power >= 0.99);
  CHECK(power_of_two >= 0.99);

  std::vector<Outcomes> wrong;
  for (const test::TextLaw& other : wrong_laws(setting)) {
    wrong.push_back(test::exact_law(other, length));
  }
  const Counts plain = sampled(setting, "", runs, std::uint64_t{1} << 32);
  const Counts speculative = sampled(setting, tree, runs, 1);
  for (const Counts* seen : {&plain, &speculative}) {
    CAPTURE(seen == &plain, groups.against_law(counts_of(law, *seen)), bound);
    CHECK(follows(*seen, law, runs));
    CHECK_FALSE(follows(*seen, moved(law, difference), runs));
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      CAPTURE(i);
      CHECK_FALSE(follows(*seen, wrong[i], runs));
    }
  }
  const double apart =
      groups.against_each_other(counts_of(law, plain), counts_of(law, speculative));
  CAPTURE(apart, bound);
  CHECK(apart < bound);
}

}  // namespace

TEST_CASE("speculative and plain decoding of a real text agree with the exact law") {
  check_agreement("4x1", 20'000, 0.1);
}

TEST_CASE("speculative and plain decoding agree where an error of one percent would show",
          "[slow]") {
  check_agreement("2x2", 2'000'000, 0.01);
}

TEST_CASE("no word of the text law is kept or cut by a hair") {
  const Setting setting;
  const Outcomes law = test::exact_law(setting.law, length);
  for (const float shift : {-2e-5f, 2e-5f}) {
    test::TextLaw shifted = setting.law;
    shifted.config.top_p += shift;
    const Outcomes other = test::exact_law(shifted, length);
    CHECK(std::ranges::equal(law, other, {}, &Outcomes::value_type::first,
                             &Outcomes::value_type::first));
  }
}
