// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/banned_tokens.hpp"

#include <cstddef>
#include <map>

namespace tokkos::test {

std::set<std::int32_t> repeated_ngram_tokens(const std::vector<std::int32_t>& sequence, int n) {
  if (n <= 0) return {};
  std::map<std::vector<std::int32_t>, std::set<std::int32_t>> followers;
  for (auto last = sequence.begin(); last != sequence.end(); ++last) {
    if (last - sequence.begin() < n - 1) continue;
    followers[{last - (n - 1), last}].insert(*last);
  }
  if (static_cast<std::ptrdiff_t>(sequence.size()) < n - 1) return {};
  return followers[{sequence.end() - (n - 1), sequence.end()}];
}

std::set<std::int32_t> bad_word_tokens(const std::vector<std::int32_t>& sequence,
                                       const std::vector<std::vector<std::int32_t>>& bad_words) {
  std::set<std::int32_t> tokens;
  for (const auto& word : bad_words) {
    std::vector<std::int32_t> next = sequence;
    next.push_back(word.back());
    if (word.size() > next.size()) continue;
    const auto end = next.end() - static_cast<std::ptrdiff_t>(word.size());
    if (std::vector<std::int32_t>(end, next.end()) == word) tokens.insert(word.back());
  }
  return tokens;
}

}  // namespace tokkos::test
