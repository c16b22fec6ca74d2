// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/bad_words.hpp>

#include <cstddef>

namespace tokkos {

namespace {

bool ends_with(const TokenContext& context, std::span<const TokenId> tokens) {
  if (tokens.size() > context.size()) return false;
  const std::size_t first = context.size() - tokens.size();
  for (std::size_t i = tokens.size(); i-- > 0;) {
    if (context[first + i] != tokens[i]) return false;
  }
  return true;
}

}  // namespace

void ban_bad_words(const TokenContext& context, std::span<const std::vector<TokenId>> bad_words,
                   std::vector<TokenId>& banned) {
  for (const std::vector<TokenId>& word : bad_words) {
    const std::span<const TokenId> tokens(word);
    if (ends_with(context, tokens.first(tokens.size() - 1))) banned.push_back(tokens.back());
  }
}

}  // namespace tokkos
