// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/no_repeat_ngram.hpp>

#include <cstddef>

namespace tokkos {

void ban_repeated_ngrams(const TokenContext& context, std::int32_t size,
                         std::vector<TokenId>& banned) {
  if (size <= 0 || context.size() < static_cast<std::size_t>(size)) return;
  const std::size_t before = static_cast<std::size_t>(size) - 1;  // tokens before the last
  const std::size_t suffix = context.size() - before;
  // From their ends on, where n-grams differ most often.
  const auto matches_suffix = [&](std::size_t start) {
    for (std::size_t i = before; i-- > 0;) {
      if (context[start + i] != context[suffix + i]) return false;
    }
    return true;
  };
  for (std::size_t start = 0; start + before < context.size(); ++start) {
    if (matches_suffix(start)) banned.push_back(context[start + before]);
  }
}

}  // namespace tokkos
