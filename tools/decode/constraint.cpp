// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/constraint.hpp"

#include <tokkos/core/error.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

namespace tokkos::tools {

namespace {

template <class Predicate>
std::vector<std::int32_t> bitmask(const Vocabulary& vocabulary, const Predicate& is_allowed) {
  std::vector<std::uint32_t> words((static_cast<std::size_t>(vocabulary.size()) + 31) / 32, 0);
  for (TokenId token = 0; token < vocabulary.size(); ++token) {
    if (is_allowed(token)) words[static_cast<std::size_t>(token) >> 5] |= 1u << (token & 31);
  }
  return {words.begin(), words.end()};
}

// Where there is a choice, * takes as little as it can and gives way later: linear backtracking.
bool matches(std::string_view item, std::string_view word) {
  std::size_t i = 0;
  std::size_t w = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  const auto next_letter = [&](std::size_t at) {
    do ++at;
    while (at < word.size() && (static_cast<unsigned char>(word[at]) & 0xc0) == 0x80);
    return at;
  };
  while (w < word.size()) {
    if (i < item.size() && item[i] == '*') {
      star = i++;
      taken = w;
    } else if (i < item.size() && item[i] == '?') {
      ++i;
      w = next_letter(w);
    } else if (i < item.size() && item[i] == word[w]) {
      ++i;
      ++w;
    } else if (star != std::string_view::npos) {
      i = star + 1;
      w = ++taken;
    } else {
      return false;
    }
  }
  return item.find_first_not_of('*', i) == std::string_view::npos;
}

ConstraintRule parse_pattern(const std::string& items, const Vocabulary& vocabulary) {
  ConstraintRule rule;
  std::istringstream stream(items);
  for (std::string item; stream >> item;) {
    const auto literal = vocabulary.find(item);
    rule.allowed.push_back(bitmask(vocabulary, [&](TokenId token) {
      const std::string& text = vocabulary.text(token);
      return token == literal || (is_word(text) && matches(item, text));
    }));
    if (std::ranges::all_of(rule.allowed.back(), [](std::int32_t word) { return word == 0; })) {
      throw Error("--constraint", static_cast<std::int64_t>(rule.allowed.size()) - 1,
                  "\"" + item + "\"", "an item that a word of the text matches");
    }
  }
  if (rule.allowed.empty()) {
    throw Error("--constraint", std::nullopt, "\"pattern:" + items + "\"",
                "at least one item after pattern:");
  }
  return rule;
}

}  // namespace

ConstraintRule parse_constraint(const std::string& text, const Vocabulary& vocabulary) {
  if (text.starts_with("pattern:")) return parse_pattern(text.substr(8), vocabulary);
  ConstraintRule rule;
  rule.open_end = true;
  if (text == "words") {
    rule.allowed.push_back(
        bitmask(vocabulary, [&](TokenId token) { return is_word(vocabulary.text(token)); }));
    return rule;
  }
  if (text != "sentence") {
    throw Error("--constraint", std::nullopt, "\"" + text + "\"",
                "none, words, sentence or pattern:ITEM ITEM ...");
  }
  const auto full_stop = vocabulary.find(".");
  if (!full_stop) {
    throw Error("--constraint", std::nullopt, "sentence", "a text that has a full stop");
  }
  rule.end_token = *full_stop;
  rule.allowed.push_back(
      bitmask(vocabulary, [](TokenId token) { return token != paragraph_break; }));
  return rule;
}

const std::vector<std::int32_t>& Constraint::allowed() const {
  return m_rule->allowed[std::min(m_accepted.size(), m_rule->allowed.size() - 1)];
}

bool Constraint::finished() const {
  if (!m_accepted.empty() && m_accepted.back() == m_rule->end_token) return true;
  return !m_rule->open_end && m_accepted.size() == m_rule->allowed.size();
}

void Constraint::fill_next_bitmask(std::span<std::int32_t> words) {
  if (finished()) return;
  std::copy_n(allowed().begin(), std::min(words.size(), allowed().size()), words.begin());
}

bool Constraint::accept(TokenId token) {
  if (finished() || token < 0 || static_cast<std::size_t>(token) >= 32 * allowed().size()) {
    return false;
  }
  const auto word = static_cast<std::uint32_t>(allowed()[static_cast<std::size_t>(token) >> 5]);
  if (((word >> (token & 31)) & 1u) == 0) return false;
  m_accepted.push_back(token);
  return true;
}

void Constraint::rollback(std::int32_t count) {
  require(count >= 0 && static_cast<std::size_t>(count) <= m_accepted.size(), "count", std::nullopt,
          count, "at most the number of accepted tokens");
  m_accepted.resize(m_accepted.size() - static_cast<std::size_t>(count));
}

}  // namespace tokkos::tools
