// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace tokkos::test {

/// Tokens that would repeat an n-gram of the sequence: every n-gram goes into a dictionary from its
/// first n - 1 tokens to its last.
std::set<std::int32_t> repeated_ngram_tokens(const std::vector<std::int32_t>& sequence, int n);

/// Last tokens of the bad words that would stand at the end of the sequence with one token more.
std::set<std::int32_t> bad_word_tokens(const std::vector<std::int32_t>& sequence,
                                       const std::vector<std::vector<std::int32_t>>& bad_words);

}  // namespace tokkos::test
