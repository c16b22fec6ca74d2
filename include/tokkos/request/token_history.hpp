// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tokkos {

/// A token and how often it stands somewhere.
struct TokenCount {
  TokenId token;       ///< which
  std::int32_t count;  ///< how often
};

/// The tokens of one request: its prompt, and what was generated since. Drafts do not belong here,
/// nor do tokens of a user's second turn: that is a request of its own, with all before as prompt.
/// Every token of either stands once in counts() or once in prompt_only().
class TokenHistory {
 public:
  TokenHistory() = default;
  /// @throws Error if a token is negative
  explicit TokenHistory(std::vector<TokenId> prompt);

  /// Appends a generated token. Amortized O(1). @throws Error if it is negative.
  void commit(TokenId token);

  /// Removes the last `count` generated tokens. O(count), and allocates nothing.
  /// @throws Error if count is greater than the number of generated tokens
  void rollback(std::size_t count);

  /// The prompt.
  std::span<const TokenId> prompt() const { return m_prompt; }
  /// What was committed since and not rolled back.
  std::span<const TokenId> generated() const { return m_generated; }

  /// Largest token of the prompt, -1 if it is empty. O(1).
  TokenId largest_prompt_token() const { return m_prompt.empty() ? -1 : m_largest_prompt_token; }

  /// Whether the prompt has the token. O(1) below max_active_vocabulary.
  bool in_prompt(TokenId token) const;

  /// Every token of the prompt that was not generated, once, with its count in the prompt, in no
  /// particular order.
  std::span<const TokenCount> prompt_only() const {
    return std::span(m_prompt_only).first(std::min(m_prompt_only_count, m_prompt_only.size()));
  }

  /// Position of a token in prompt_only(), or -1.
  std::int64_t prompt_only_index_of(TokenId token) const;

  /// How often a token was generated (the prompt does not count).
  std::int32_t count(TokenId token) const;

  /// Position of a token in counts(), or -1 if it was not generated.
  std::int64_t index_of(TokenId token) const;

  /// Every generated token once, with its count, in no particular order.
  std::span<const TokenCount> counts() const { return m_counts; }

  /// Of each token in counts() how often it stands in the prompt.
  std::span<const std::int32_t> prompt_counts() const { return m_prompt_counts; }

  /// How often each of the last `length` tokens of the prompt and what was generated stands among
  /// them, in the order of token ids. O(length log length).
  void count_last(std::size_t length, std::vector<TokenCount>& counts) const;

 private:
  /// Removes the entry at a negative position of m_position; returns its count.
  std::int32_t take_from_prompt_only(std::int64_t position);

  std::vector<TokenId> m_prompt;
  // Bit (v & 31) of word v >> 5: the prompt has v. Tokens past every active vocabulary are listed,
  // so that a wild number does not ask for memory.
  std::vector<std::uint32_t> m_prompt_bits;
  std::vector<TokenId> m_far_prompt_tokens;  // ascending
  TokenId m_largest_prompt_token = -1;       // a move leaves it, without the prompt
  std::vector<TokenId> m_generated;
  std::vector<TokenCount> m_counts;
  std::vector<std::int32_t> m_prompt_counts;  // parallel to m_counts
  // As many as the prompt has different tokens; those behind the count were generated. A move
  // leaves the count.
  std::vector<TokenCount> m_prompt_only;
  std::size_t m_prompt_only_count = 0;
  // Of a generated token its index in m_counts, of any other of the prompt -1 - its index in
  // m_prompt_only.
  std::unordered_map<TokenId, std::int64_t> m_position;
};

}  // namespace tokkos
