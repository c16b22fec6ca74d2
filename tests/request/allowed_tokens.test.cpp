// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/allowed_tokens.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

using namespace tokkos;

TEST_CASE("allowed tokens set their bits in the words that there are, and nothing behind them") {
  std::vector<std::int32_t> words{-1, 77, 0x5EED, 0x5EED};
  const std::vector<TokenId> tokens{0, 31, 33, 33, 65, 97, 2147483647};
  fill_allowed_bitmask(tokens, std::span(words).first(2));
  CHECK(words ==
        std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min() | 1, 2, 0x5EED, 0x5EED});
  fill_allowed_bitmask({}, std::span(words).first(3));
  CHECK(words == std::vector<std::int32_t>{0, 0, 0, 0x5EED});
}

TEST_CASE("a bitmask that is intersected allows what both allow") {
  std::vector<std::int32_t> words{0b1100, -1, 0};
  intersect_bitmask(words, std::vector<std::int32_t>{0b1010, 7, -1});
  CHECK(words == std::vector<std::int32_t>{0b1000, 7, 0});
}
