// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What the penalty policies ask of a history: tokens of the prompt, and a window of the last ones.
#include <tokkos/request/token_history.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace tokkos::test {
namespace {

using Tokens = std::vector<TokenId>;

/// Compares what a history says of its prompt and of its last tokens with plain lists.
void check_same(const TokenHistory& history, const Tokens& prompt, const Tokens& generated) {
  Tokens expected_prompt_only;
  for (TokenId token = 0; token < 40; ++token) {
    const bool in_prompt = std::ranges::count(prompt, token) > 0;
    CHECK(history.in_prompt(token) == in_prompt);
    const bool alone = in_prompt && std::ranges::count(generated, token) == 0;
    if (alone) expected_prompt_only.push_back(token);
    const std::int64_t place = history.prompt_only_index_of(token);
    CHECK((place >= 0) == alone);
    const auto in_prompt_times = static_cast<std::int32_t>(std::ranges::count(prompt, token));
    if (alone) {
      const TokenCount entry = history.prompt_only()[static_cast<std::size_t>(place)];
      CHECK(entry.token == token);
      CHECK(entry.count == in_prompt_times);
    }
    const std::int64_t counted = history.index_of(token);
    CHECK((counted >= 0) == (std::ranges::count(generated, token) > 0));
    if (counted >= 0) {
      CHECK(history.counts()[static_cast<std::size_t>(counted)].token == token);
      CHECK(history.prompt_counts()[static_cast<std::size_t>(counted)] == in_prompt_times);
    }
  }
  CHECK(history.prompt_counts().size() == history.counts().size());
  Tokens prompt_only;
  for (const TokenCount& entry : history.prompt_only()) prompt_only.push_back(entry.token);
  std::ranges::sort(prompt_only);
  CHECK(prompt_only == expected_prompt_only);

  Tokens all = prompt;
  all.insert(all.end(), generated.begin(), generated.end());
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{5}, generated.size(),
                                   generated.size() + 2, all.size() + 3, ~std::size_t{0}}) {
    std::map<TokenId, std::int32_t> expected;
    for (std::size_t i = all.size() - std::min(length, all.size()); i < all.size(); ++i) {
      ++expected[all[i]];
    }
    std::vector<TokenCount> counts = {{7, 7}};
    history.count_last(length, counts);
    CHECK(std::ranges::is_sorted(counts, {}, &TokenCount::token));
    std::map<TokenId, std::int32_t> counted;
    for (const TokenCount& entry : counts) counted[entry.token] = entry.count;
    CHECK(counted == expected);
    CHECK(counts.size() == expected.size());
  }
}

}  // namespace

TEST_CASE("a token history knows its prompt and its last tokens through commits and rollbacks",
          "[request]") {
  std::mt19937 random(11);
  const Tokens prompt = {3, 3, 31, 32, 0, 9, 33, 9, 5};
  TokenHistory history(prompt);
  Tokens generated;
  check_same(history, prompt, generated);
  for (int step = 0; step < 200; ++step) {
    if (random() % 3 == 0) {
      const std::size_t count = random() % (generated.size() + 1) % 6;
      history.rollback(count);
      generated.resize(generated.size() - count);
    } else {
      generated.push_back(static_cast<TokenId>(random() % 36));
      history.commit(generated.back());
    }
    check_same(history, prompt, generated);
  }
  TokenHistory copy = history;
  copy.rollback(generated.size());
  check_same(copy, prompt, {});
  check_same(history, prompt, generated);
}

TEST_CASE("tokens far past every vocabulary are known to be in the prompt", "[request]") {
  TokenHistory history({2147483647, 4, max_active_vocabulary, 1 << 20, 1 << 20});
  for (const TokenId token :
       {TokenId{2147483647}, TokenId{4}, TokenId{max_active_vocabulary}, TokenId{1 << 20}}) {
    CHECK(history.in_prompt(token));
    CHECK(history.prompt_only_index_of(token) >= 0);
  }
  for (const TokenId token : {-1, 0, 5, 524286, 524288, (1 << 20) + 1, 2147483646}) {
    CHECK(!history.in_prompt(token));
  }
  CHECK(history.prompt_only().size() == 4);
  history.commit(1 << 20);
  CHECK(history.prompt_only().size() == 3);
  history.rollback(1);
  CHECK(history.prompt_only_index_of(1 << 20) >= 0);
  CHECK(!TokenHistory().in_prompt(0));
}

}  // namespace tokkos::test
