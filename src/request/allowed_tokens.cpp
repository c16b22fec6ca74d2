// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/allowed_tokens.hpp>

#include <algorithm>
#include <cstddef>

namespace tokkos {

void fill_allowed_bitmask(std::span<const TokenId> tokens, std::span<std::int32_t> words) {
  std::ranges::fill(words, 0);
  for (const TokenId token : tokens) {
    const auto word = static_cast<std::size_t>(token) >> 5;
    if (word < words.size()) words[word] |= static_cast<std::int32_t>(1u << (token & 31));
  }
}

void intersect_bitmask(std::span<std::int32_t> words, std::span<const std::int32_t> other) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] &= other[i];
}

}  // namespace tokkos
