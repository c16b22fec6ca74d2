// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/allowed_tokens.hpp>
#include <tokkos/request/bad_words.hpp>
#include <tokkos/request/minimum_length.hpp>
#include <tokkos/request/no_repeat_ngram.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "reference/banned_tokens.hpp"

namespace tokkos::test {
namespace {

using Tokens = std::vector<TokenId>;
using Set = std::set<TokenId>;

/// A sequence that is cut somewhere into prompt, generated tokens and drafts.
struct CutSequence {
  Tokens tokens;
  std::size_t generated = 0;
  std::size_t drafts = 0;

  TokenContext context() const {
    const std::span<const TokenId> all(tokens);
    return {all.first(generated), all.subspan(generated, drafts - generated), all.subspan(drafts)};
  }
};

CutSequence random_sequence(std::mt19937& random, std::size_t length) {
  CutSequence sequence;
  for (std::size_t i = 0; i < length; ++i) {
    sequence.tokens.push_back(static_cast<TokenId>(random() % 4));
  }
  sequence.drafts = random() % (length + 1);
  sequence.generated = random() % (sequence.drafts + 1);
  return sequence;
}

Set repeated(const TokenContext& context, std::int32_t size) {
  Tokens banned;
  ban_repeated_ngrams(context, size, banned);
  return {banned.begin(), banned.end()};
}

Set ended(const TokenContext& context, const std::vector<Tokens>& bad_words) {
  Tokens banned;
  ban_bad_words(context, bad_words, banned);
  return {banned.begin(), banned.end()};
}

}  // namespace

// Any way that compares a whole n-gram at each place would take 10^11 comparisons.
TEST_CASE("repeated n-grams of half a long context are found in linear time", "[request]") {
  const Tokens same(1000000, 7);
  Tokens banned;
  ban_repeated_ngrams({same, {}, {}}, 500000, banned);
  CHECK(banned == Tokens(500001, 7));
  // The suffix agrees with every place but for its first token.
  Tokens other(1000000, 7);
  other[500001] = 8;
  banned.clear();
  ban_repeated_ngrams({other, {}, {}}, 500000, banned);
  CHECK(banned.empty());
}

TEST_CASE("a context is prompt, generated tokens and drafts in this order", "[request]") {
  const Tokens prompt = {5}, generated = {6, 7}, drafts = {8};
  const TokenContext context{prompt, generated, drafts};
  REQUIRE(context.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(context[i] == static_cast<TokenId>(5 + i));
  CHECK(TokenContext{}.size() == 0);
}

TEST_CASE("n-grams that stand in the context may not come again", "[request]") {
  const CutSequence known{{1, 2, 3, 1, 2, 4, 1, 2}, 3, 6};
  CHECK(repeated(known.context(), 0) == Set{});
  CHECK(repeated(known.context(), 1) == Set{1, 2, 3, 4});
  CHECK(repeated(known.context(), 2) == Set{3, 4});
  CHECK(repeated(known.context(), 3) == Set{3, 4});
  CHECK(repeated(known.context(), 4) == Set{});
  CHECK(repeated(known.context(), 2147483647) == Set{});
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    const CutSequence sequence = random_sequence(random, random() % 24);
    for (std::int32_t size = 0; size < 7; ++size) {
      CAPTURE(i, size);
      CHECK(repeated(sequence.context(), size) == repeated_ngram_tokens(sequence.tokens, size));
    }
  }
}

TEST_CASE("the last token of a bad word is banned behind its others", "[request]") {
  const CutSequence known{{1, 2, 3}, 1, 2};
  CHECK(ended(known.context(), {{9}, {3, 5}, {2, 3, 6}, {1, 2, 3, 7}, {0, 1, 2, 3, 8}, {2, 4}}) ==
        Set{9, 5, 6, 7});
  CHECK(ended({}, {{2}, {1, 3}}) == Set{2});
  std::mt19937 random(5);
  for (int i = 0; i < 400; ++i) {
    const CutSequence sequence = random_sequence(random, random() % 6);
    std::vector<Tokens> bad_words(10);
    for (Tokens& word : bad_words) word = random_sequence(random, 1 + random() % 5).tokens;
    CAPTURE(i);
    CHECK(ended(sequence.context(), bad_words) == bad_word_tokens(sequence.tokens, bad_words));
  }
}

TEST_CASE("end tokens are banned until enough tokens were generated, drafts included",
          "[request]") {
  const Tokens prompt = {1, 1, 1, 1}, generated = {2, 2}, drafts = {3}, ends = {7, 9};
  const auto banned_until = [&](const TokenContext& context, std::int32_t least) {
    Tokens banned = {4};
    ban_early_end(context, least, ends, banned);
    return banned;
  };
  CHECK(banned_until({prompt, generated, drafts}, 4) == Tokens{4, 7, 9});
  CHECK(banned_until({prompt, generated, drafts}, 3) == Tokens{4});
  CHECK(banned_until({prompt, generated, {}}, 3) == Tokens{4, 7, 9});
  CHECK(banned_until({prompt, generated, {}}, 2) == Tokens{4});
  CHECK(banned_until({prompt, {}, {}}, 0) == Tokens{4});
  CHECK(banned_until({prompt, {}, {}}, 2147483647) == Tokens{4, 7, 9});
}

TEST_CASE("allowed tokens are the bits that are set", "[request]") {
  std::vector<std::int32_t> words = {-1, 5};
  fill_allowed_bitmask(Tokens{0, 31, 32, 33, 33, 64, 2147483647}, words);
  CHECK(words == std::vector<std::int32_t>{static_cast<std::int32_t>(0x80000001u), 3});
  intersect_bitmask(words, std::vector<std::int32_t>{-2147483647 - 1, 6});
  CHECK(words == std::vector<std::int32_t>{-2147483647 - 1, 2});
  fill_allowed_bitmask(Tokens{}, words);
  CHECK(words == std::vector<std::int32_t>{0, 0});
}

}  // namespace tokkos::test
