// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace tokkos::test {

/// p_k(word | last k - 1 tokens of context) by the definition, counting anew for every question:
/// p_0 = 1/V, p_k = 7/8 c(h w)/c(h) + 1/8 p_{k-1}, or p_{k-1} where h never has a follower.
inline double ngram_probability(const std::vector<int>& text, int vocabulary, std::size_t order,
                                const std::vector<int>& context, int word) {
  if (order == 0) return 1.0 / vocabulary;
  const double shorter = ngram_probability(text, vocabulary, order - 1, context, word);
  const std::size_t length = order - 1;
  if (context.size() < length) return shorter;
  int contexts = 0;
  int followed = 0;
  for (std::size_t i = length; i < text.size(); ++i) {
    bool same = true;
    for (std::size_t j = 1; j <= length; ++j) {
      same = same && text[i - j] == context[context.size() - j];
    }
    contexts += same ? 1 : 0;
    followed += same && text[i] == word ? 1 : 0;
  }
  return contexts == 0 ? shorter : 7.0 / 8.0 * followed / contexts + shorter / 8.0;
}

}  // namespace tokkos::test
