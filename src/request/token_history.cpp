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
  const auto near = std::min<std::int64_t>(m_largest_prompt_token, max_active_vocabulary);
  m_prompt_bits.assign(static_cast<std::size_t>(near + 32) / 32, 0);
  for (const TokenId token : m_prompt) {
    const auto next = -1 - static_cast<std::int64_t>(m_prompt_only.size());
    const auto [place, is_new] = m_position.try_emplace(token, next);
    if (!is_new) {
      ++m_prompt_only[static_cast<std::size_t>(-1 - place->second)].count;
      continue;
    }
    m_prompt_only.push_back({token, 1});
    ++m_prompt_only_count;
    if (token <= max_active_vocabulary) {
      m_prompt_bits[static_cast<std::size_t>(token) >> 5] |= 1u << (token & 31);
    } else {
      m_far_prompt_tokens.push_back(token);
    }
  }
  std::ranges::sort(m_far_prompt_tokens);
}

bool TokenHistory::in_prompt(TokenId token) const {
  if (token < 0 || token > largest_prompt_token()) return false;
  if (token > max_active_vocabulary) {
    return std::ranges::binary_search(m_far_prompt_tokens, token);
  }
  return ((m_prompt_bits[static_cast<std::size_t>(token) >> 5] >> (token & 31)) & 1u) != 0;
}

void TokenHistory::commit(TokenId token) {
  require(token >= 0, "token", static_cast<std::int64_t>(m_generated.size()), token,
          "a token >= 0");
  // Room first: once something is written, nothing throws.
  const auto make_room = [](auto& list) {
    if (list.size() == list.capacity()) list.reserve(2 * list.size() + 16);
  };
  make_room(m_generated);
  make_room(m_counts);
  make_room(m_prompt_counts);
  const auto next = static_cast<std::int64_t>(m_counts.size());
  const auto [place, is_new] = m_position.try_emplace(token, next);
  if (is_new || place->second < 0) {
    m_counts.push_back({token, 0});
    m_prompt_counts.push_back(is_new ? 0 : take_from_prompt_only(place->second));
    place->second = next;
  }
  ++m_counts[static_cast<std::size_t>(place->second)].count;
  m_generated.push_back(token);
}

std::int32_t TokenHistory::take_from_prompt_only(std::int64_t position) {
  TokenCount& hole = m_prompt_only[static_cast<std::size_t>(-1 - position)];
  const std::int32_t count = hole.count;
  hole = m_prompt_only[--m_prompt_only_count];
  m_position.find(hole.token)->second = position;
  return count;
}

void TokenHistory::rollback(std::size_t count) {
  if (count > m_generated.size()) {
    throw Error("count", std::nullopt, std::to_string(count),
                "at most the " + std::to_string(m_generated.size()) + " generated tokens");
  }
  // Nothing is allocated, so that a commit that fails half way can be taken back.
  for (; count > 0; --count) {
    const TokenId token = m_generated.back();
    const auto place = m_position.find(token);
    std::int32_t& counted = m_counts[static_cast<std::size_t>(place->second)].count;
    if (counted > 1) {
      --counted;
      m_generated.pop_back();
      continue;
    }
    // The last token of the history whose count falls to 0 is the last that was counted.
    const std::int32_t in_prompt = m_prompt_counts.back();
    if (in_prompt > 0) {
      m_prompt_only[m_prompt_only_count++] = {token, in_prompt};
      place->second = -static_cast<std::int64_t>(m_prompt_only_count);
    } else {
      m_position.erase(place);
    }
    m_counts.pop_back();
    m_prompt_counts.pop_back();
    m_generated.pop_back();
  }
}

std::int64_t TokenHistory::index_of(TokenId token) const {
  const auto place = m_position.find(token);
  return place == m_position.end() || place->second < 0 ? -1 : place->second;
}

std::int64_t TokenHistory::prompt_only_index_of(TokenId token) const {
  const auto place = m_position.find(token);
  return place == m_position.end() || place->second >= 0 ? -1 : -1 - place->second;
}

std::int32_t TokenHistory::count(TokenId token) const {
  const std::int64_t index = index_of(token);
  return index < 0 ? 0 : m_counts[static_cast<std::size_t>(index)].count;
}

void TokenHistory::count_last(std::size_t length, std::vector<TokenCount>& counts) const {
  counts.clear();
  const std::size_t generated = std::min(length, m_generated.size());
  const std::size_t of_prompt = std::min(length - generated, m_prompt.size());
  for (const TokenId token : prompt().last(of_prompt)) counts.push_back({token, 1});
  for (const TokenId token : this->generated().last(generated)) counts.push_back({token, 1});
  std::ranges::sort(counts, {}, &TokenCount::token);
  std::size_t kept = 0;
  for (const TokenCount& entry : counts) {
    if (kept > 0 && counts[kept - 1].token == entry.token) {
      ++counts[kept - 1].count;
    } else {
      counts[kept++] = entry;
    }
  }
  counts.resize(kept);
}

}  // namespace tokkos
