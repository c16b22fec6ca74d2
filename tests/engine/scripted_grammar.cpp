// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/scripted_grammar.hpp"

#include <algorithm>
#include <cstddef>

namespace tokkos::test {

bool ScriptedGrammar::allows(std::span<const TokenId> accepted, TokenId token) const {
  if (!m_constrained) return true;
  if (!accepted.empty() && accepted.back() == end_token) return false;
  std::uint32_t state = m_script * 2654435761u + 1;
  for (const TokenId earlier : accepted) {
    state = (state ^ static_cast<std::uint32_t>(earlier)) * 16777619u;
  }
  state = (state ^ static_cast<std::uint32_t>(token)) * 2246822519u;
  return token >= 0 && token < m_active_vocabulary && (state >> 13) % 3 != 0;
}

void ScriptedGrammar::fill_next_bitmask(std::span<std::int32_t> words) {
  count_call();
  const bool clean = std::ranges::all_of(words, [](std::int32_t word) { return word == 0; });
  const auto expected = static_cast<std::size_t>((m_active_vocabulary + 31) / 32);
  if (!clean || words.size() != expected) ++m_misuses;
  const auto bits = static_cast<TokenId>(words.size() * 32);
  for (TokenId v = 0; v < bits; ++v) {
    // Bits past the vocabulary are set: they must be ignored.
    const bool set = v >= m_active_vocabulary || allows(m_accepted, v);
    const auto bit = static_cast<std::uint32_t>(set) << (v & 31);
    words[v >> 5] = static_cast<std::int32_t>(static_cast<std::uint32_t>(words[v >> 5]) | bit);
  }
}

bool ScriptedGrammar::accept(TokenId token) {
  count_call();
  if (!allows(m_accepted, token)) return false;
  m_accepted.push_back(token);
  return true;
}

void ScriptedGrammar::rollback(std::int32_t count) {
  const auto size = static_cast<std::int32_t>(m_accepted.size());
  if (count < 0 || count > size) ++m_misuses;
  m_accepted.resize(static_cast<std::size_t>(size - std::clamp(count, 0, size)));
}

void ScriptedGrammar::count_call() {
  if (m_calls++ == m_throw_at) throw GrammarFailure();
}

}  // namespace tokkos::test
