// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/token_history.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

/// Compares a history with the plain list of what was generated.
void check_same(const TokenHistory& history, const std::vector<TokenId>& generated) {
  CHECK(std::ranges::equal(history.generated(), generated));
  std::map<TokenId, std::int32_t> counted, expected;
  for (const TokenId token : generated) ++expected[token];
  for (const TokenCount& entry : history.counts()) {
    CHECK(!counted.contains(entry.token));
    counted[entry.token] = entry.count;
  }
  CHECK(counted == expected);
  for (TokenId token = 0; token < 12; ++token) {
    const auto naive = std::ranges::count(generated, token);
    CHECK(history.count(token) == naive);
  }
}

}  // namespace

TEST_CASE("a token history counts what was generated and not the prompt", "[request]") {
  TokenHistory history({3, 3, 4});
  check_same(history, {});
  CHECK(std::ranges::equal(history.prompt(), std::vector<TokenId>{3, 3, 4}));
  for (const TokenId token : {5, 3, 5, 0}) history.commit(token);
  check_same(history, {5, 3, 5, 0});
  CHECK(std::ranges::equal(history.prompt(), std::vector<TokenId>{3, 3, 4}));
}

TEST_CASE("a token history agrees with a naive count through commits and rollbacks", "[request]") {
  std::mt19937 random(5);
  TokenHistory history({1, 2});
  std::vector<TokenId> generated;
  for (int step = 0; step < 400; ++step) {
    if (random() % 3 == 0) {
      const std::size_t count = random() % (generated.size() + 1) % 6;
      history.rollback(count);
      generated.resize(generated.size() - count);
    } else {
      generated.push_back(static_cast<TokenId>(random() % 10));
      history.commit(generated.back());
    }
    check_same(history, generated);
  }
  history.rollback(generated.size());
  check_same(history, {});
}

TEST_CASE("a token history refuses a negative token and changes nothing", "[request]") {
  TokenHistory history;
  history.commit(2);
  for (const TokenId token : {-1, -2, -2147483647 - 1}) {
    const Complaint complaint = error_of([&] { history.commit(token); });
    CHECK(!complaint.field.empty());
    CHECK(complaint.value == to_text(token));
    check_same(history, {2});
  }
}

TEST_CASE("a token history refuses to roll back more than was generated", "[request]") {
  TokenHistory history({1, 2, 3});
  history.commit(2);
  history.commit(7);
  for (const std::size_t count : {std::size_t{3}, std::size_t{5}, ~std::size_t{0}}) {
    const Complaint complaint = error_of([&] { history.rollback(count); });
    CHECK(!complaint.field.empty());
    check_same(history, {2, 7});
  }
  history.rollback(0);
  check_same(history, {2, 7});
}

TEST_CASE("a token history that was moved from is empty", "[request]") {
  TokenHistory history({5, 9, 5});
  history.commit(7);
  const TokenHistory taken = std::move(history);
  CHECK(taken.in_prompt(9));
  TokenHistory assigned({1});
  TokenHistory other({6});
  assigned = std::move(other);
  for (const TokenHistory* empty : {&history, &other}) {  // NOLINT(bugprone-use-after-move)
    CHECK(empty->largest_prompt_token() == -1);
    for (const TokenId token : {0, 5, 6, 9}) CHECK(!empty->in_prompt(token));
    CHECK(empty->generated().empty());
    CHECK(empty->counts().empty());
  }
}

TEST_CASE("a copied token history lives on its own", "[request]") {
  TokenHistory history;
  history.commit(1);
  TokenHistory copy = history;
  copy.commit(1);
  check_same(history, {1});
  check_same(copy, {1, 1});
}

}  // namespace tokkos::test
