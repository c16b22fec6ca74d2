// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/no_repeat_ngram.hpp>

#include <cstddef>
#include <vector>

namespace tokkos {

void ban_repeated_ngrams(const TokenContext& context, std::int32_t size,
                         std::vector<TokenId>& banned) {
  if (size <= 0 || context.size() < static_cast<std::size_t>(size)) return;
  const std::size_t before = static_cast<std::size_t>(size) - 1;  // tokens before the last
  const std::size_t suffix = context.size() - before;
  // Linear in the context whatever it holds (Knuth, Morris, Pratt, 1977): of the first i + 1 tokens
  // of the suffix, how many of its first ones end them too, not counting themselves.
  std::vector<std::size_t> borders(before);
  const auto matched_with = [&](std::size_t matched, TokenId token) {
    while (matched > 0 && (matched == before || context[suffix + matched] != token)) {
      matched = borders[matched - 1];
    }
    return matched < before && context[suffix + matched] == token ? matched + 1 : matched;
  };
  for (std::size_t i = 1; i < before; ++i) {
    borders[i] = matched_with(borders[i - 1], context[suffix + i]);
  }
  std::size_t matched = 0;  // of the suffix, by the tokens before i
  for (std::size_t i = 0; i < context.size(); ++i) {
    if (matched == before) banned.push_back(context[i]);
    matched = matched_with(matched, context[i]);
  }
}

}  // namespace tokkos
