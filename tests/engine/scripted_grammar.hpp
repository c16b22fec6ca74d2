// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/vocabulary_mask.hpp>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace tokkos::test {

/// What a ScriptedGrammar throws when it is told to.
struct GrammarFailure : std::runtime_error {
  GrammarFailure() : std::runtime_error("the grammar failed as told") {}
};

/// A grammar whose next tokens are a pure function of the tokens accepted so far: about two thirds
/// of the vocabulary, and none after end_token.
class ScriptedGrammar : public VocabularyMask {
 public:
  static constexpr TokenId end_token = 2;

  ScriptedGrammar(std::uint32_t script, std::int64_t active_vocabulary, bool constrained = true)
      : m_script(script), m_active_vocabulary(active_vocabulary), m_constrained(constrained) {}

  /// Whether `token` may follow `accepted`.
  bool allows(std::span<const TokenId> accepted, TokenId token) const;

  bool is_constrained() const override { return m_constrained; }
  void fill_next_bitmask(std::span<std::int32_t> words) override;
  bool accept(TokenId token) override;
  void rollback(std::int32_t count) override;

  /// From now on the n-th call (from 0) of fill_next_bitmask or accept throws; < 0: none.
  void throw_at(int call) { m_calls = 0, m_throw_at = call; }
  /// Accepts tokens that stay.
  void commit(TokenId token) { m_accepted.push_back(token); }

  const std::vector<TokenId>& accepted() const { return m_accepted; }
  int calls() const { return m_calls; }
  /// Calls that broke the interface: dirty or wrongly sized words, rollbacks of nothing or too
  /// much.
  int misuses() const { return m_misuses; }

 private:
  void count_call();

  std::uint32_t m_script;
  std::int64_t m_active_vocabulary;
  bool m_constrained;
  std::vector<TokenId> m_accepted;
  int m_calls = 0;
  int m_throw_at = -1;
  int m_misuses = 0;
};

}  // namespace tokkos::test
