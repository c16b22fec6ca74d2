// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/token_history.hpp>

#include <algorithm>
#include <utility>

namespace tokkos {

TokenHistory::TokenHistory(std::vector<TokenId> prompt) : m_prompt(std::move(prompt)) {
  for (std::size_t i = 0; i < m_prompt.size(); ++i) {
    require(m_prompt[i] >= 0, "prompt", static_cast<std::int64_t>(i), m_prompt[i], "a token >= 0");
    m_largest_prompt_token = std::max(m_largest_prompt_token, m_prompt[i]);
  }
}

void TokenHistory::commit(TokenId token) {
  require(token >= 0, "token", static_cast<std::int64_t>(m_generated.size()), token,
          "a token >= 0");
  // Room first: once something is written, nothing throws.
  if (m_generated.size() == m_generated.capacity())
    m_generated.reserve(2 * m_generated.size() + 16);
  if (m_counts.size() == m_counts.capacity()) m_counts.reserve(2 * m_counts.size() + 16);
  const auto [place, inserted] = m_position.try_emplace(token, m_counts.size());
  if (inserted) m_counts.push_back({token, 0});
  ++m_counts[place->second].count;
  m_generated.push_back(token);
}

void TokenHistory::rollback(std::size_t count) {
  if (count > m_generated.size()) {
    throw Error("count", std::nullopt, std::to_string(count),
                "at most the " + std::to_string(m_generated.size()) + " generated tokens");
  }
  for (; count > 0; --count) {
    const auto place = m_position.find(m_generated.back());
    m_generated.pop_back();
    if (--m_counts[place->second].count > 0) continue;
    // The last token of the history whose count falls to 0 is the last that was counted.
    m_counts.pop_back();
    m_position.erase(place);
  }
}

std::int64_t TokenHistory::index_of(TokenId token) const {
  const auto place = m_position.find(token);
  return place == m_position.end() ? -1 : static_cast<std::int64_t>(place->second);
}

std::int32_t TokenHistory::count(TokenId token) const {
  const std::int64_t index = index_of(token);
  return index < 0 ? 0 : m_counts[static_cast<std::size_t>(index)].count;
}

}  // namespace tokkos
