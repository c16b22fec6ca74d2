// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/ngram_model.hpp"

#include "tools/ngram_reference.hpp"

#include <tokkos/core/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

using namespace tokkos;
using namespace tokkos::tools;
using Catch::Matchers::WithinRel;

namespace {

std::vector<float> scores(const NgramModel& model, const std::vector<TokenId>& context) {
  std::vector<float> row(static_cast<std::size_t>(model.vocabulary()));
  model.score(context, row);
  return row;
}

}  // namespace

TEST_CASE("n-gram probabilities match counts taken by hand") {
  // a b a c a b with a = 0, b = 1, c = 2, d = 3 never seen
  const std::vector<TokenId> text = {0, 1, 0, 2, 0, 1};
  const NgramModel unigram(text, 4, 1);
  const double p_b = 7.0 / 8 * 2 / 6 + 1.0 / 8 / 4;
  const double p_d = 1.0 / 8 / 4;
  CHECK_THAT(scores(unigram, {})[1], WithinRel(std::log(p_b), 3e-7));
  CHECK_THAT(scores(unigram, {0})[3], WithinRel(std::log(p_d), 3e-7));
  const NgramModel trigram(text, 4, 3);
  const double p_b_after_a = 7.0 / 8 * 2 / 3 + p_b / 8;
  const double p_b_after_ba = p_b_after_a / 8;  // b a was followed by c alone
  CHECK_THAT(scores(trigram, {0})[1], WithinRel(std::log(p_b_after_a), 3e-7));
  CHECK_THAT(scores(trigram, {1, 0})[1], WithinRel(std::log(p_b_after_ba), 3e-7));
  CHECK_THAT(scores(trigram, {3, 0})[1], WithinRel(std::log(p_b_after_a), 3e-7));
  CHECK_THAT(scores(trigram, {0, 3})[1], WithinRel(std::log(p_b), 3e-7));
}

TEST_CASE("n-gram probabilities of every context follow the definition and sum to one") {
  const auto order = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4});
  constexpr int vocabulary = 5;
  std::vector<TokenId> text;
  unsigned state = 7;
  for (int i = 0; i < 200; ++i) {
    state = state * 1664525u + 1013904223u;
    text.push_back(static_cast<TokenId>((state >> 16) % 4 * ((state >> 24) % 2)));  // 4 never
  }
  const NgramModel model(text, vocabulary, order);
  for (int number = 0; number < vocabulary * vocabulary * vocabulary; ++number) {
    for (std::size_t length = 0; length <= 3; ++length) {
      std::vector<TokenId> context = {number / 25, number / 5 % 5, number % 5};
      context.resize(length);
      const std::vector<float> row = scores(model, context);
      double sum = 0.0;
      for (int word = 0; word < vocabulary; ++word) {
        const float score = row[static_cast<std::size_t>(word)];
        const double expected =
            std::log(test::ngram_probability(text, vocabulary, order, context, word));
        REQUIRE(std::abs(score - expected) <= 2e-7 + 1.2e-7 * std::abs(expected));
        sum += std::exp(static_cast<double>(score));
      }
      REQUIRE(std::abs(sum - 1.0) < 1e-6);
    }
  }
}

TEST_CASE("a model refuses tokens outside its vocabulary and orders outside 1 to 8") {
  const std::vector<TokenId> text = {0, 1, 2};
  CHECK_THROWS_AS(NgramModel(text, 2, 2), Error);
  CHECK_THROWS_AS(NgramModel(std::vector<TokenId>{0, -1}, 2, 2), Error);
  CHECK_THROWS_AS(NgramModel(std::vector<TokenId>{}, 2, 2), Error);
  CHECK_THROWS_AS(NgramModel(text, 3, 0), Error);
  CHECK_THROWS_AS(NgramModel(text, 3, 9), Error);
  CHECK_THROWS_AS(NgramModel(text, 0, 1), Error);
  CHECK_NOTHROW(NgramModel(text, 3, 8));
}
