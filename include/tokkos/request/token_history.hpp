// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tokkos {

/// A token and how often it was generated.
struct TokenCount {
  TokenId token;
  std::int32_t count;
};

/// The tokens of one request: its prompt, and what was generated since. Drafts do not belong here.
class TokenHistory {
 public:
  TokenHistory() = default;
  /// @throws Error if a token is negative
  explicit TokenHistory(std::vector<TokenId> prompt);

  /// Appends a generated token. Amortized O(1). @throws Error if it is negative.
  void commit(TokenId token);

  /// Removes the last `count` generated tokens. O(count).
  /// @throws Error if count is greater than the number of generated tokens
  void rollback(std::size_t count);

  std::span<const TokenId> prompt() const { return m_prompt; }
  std::span<const TokenId> generated() const { return m_generated; }

  /// Largest token of the prompt, -1 if it is empty. O(1).
  TokenId largest_prompt_token() const { return m_largest_prompt_token; }

  /// How often a token was generated (the prompt does not count).
  std::int32_t count(TokenId token) const;

  /// Position of a token in counts(), or -1 if it was not generated.
  std::int64_t index_of(TokenId token) const;

  /// Every generated token once, with its count, in no particular order.
  std::span<const TokenCount> counts() const { return m_counts; }

 private:
  std::vector<TokenId> m_prompt;
  TokenId m_largest_prompt_token = -1;
  std::vector<TokenId> m_generated;
  std::vector<TokenCount> m_counts;
  std::unordered_map<TokenId, std::size_t> m_position;  // token -> index in m_counts
};

}  // namespace tokkos
