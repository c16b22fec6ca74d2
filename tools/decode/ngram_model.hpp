// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tokkos::tools {

/// What followed each context of `length` tokens in a text, and how often.
class ContextTable {
 public:
  struct Followers {
    std::span<const TokenId> tokens;  ///< ascending
    std::span<const std::int64_t> counts;
    std::int64_t total = 0;  ///< 0: the context does not occur
  };

  ContextTable(std::span<const TokenId> text, std::size_t length);

  Followers find(std::span<const TokenId> context) const;

 private:
  std::span<const TokenId> key(std::size_t context) const;

  std::size_t m_length;
  std::vector<TokenId> m_keys;       // [contexts * length], ascending
  std::vector<std::size_t> m_begin;  // [contexts + 1] into the next two
  std::vector<TokenId> m_followers;
  std::vector<std::int64_t> m_counts;
  std::vector<std::int64_t> m_totals;  // [contexts]
};

/// Interpolated n-gram model (Jelinek and Mercer) of order 1 to 8. With c the counts in the text:
/// p_0(w) = 1 / V, p_k(w | h) = 7/8 c(h w) / c(h) + 1/8 p_{k-1}(w | h without its first token), or
/// p_{k-1} where h does not occur. Basic double operations in a fixed order: the same bits
/// everywhere.
class NgramModel {
 public:
  static constexpr std::size_t max_order = 8;

  /// @param text tokens in [0, vocabulary), not empty
  /// @throws Error if a number is out of range
  NgramModel(std::span<const TokenId> text, TokenId vocabulary, std::size_t order);

  std::size_t order() const { return m_tables.size() + 1; }
  TokenId vocabulary() const { return static_cast<TokenId>(m_unigram.size()); }

  /// Writes ln p(w | context) of every token w, portable_log of the probability rounded to float32.
  /// @param context the last tokens, oldest first; those beyond order - 1 are not looked at
  /// @param row [vocabulary]
  void score(std::span<const TokenId> context, std::span<float> row) const;

 private:
  std::vector<double> m_unigram;              // p_1
  std::vector<ContextTable> m_tables;         // contexts of 1, 2, ... tokens
  std::vector<std::vector<float>> m_backoff;  // [k]: ln(p_1 / 8^k)
};

}  // namespace tokkos::tools
