// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/tokenizer.hpp"

#include "tools/decode/text_file.hpp"

#include <algorithm>

namespace tokkos::tools {

namespace {

bool is_space(char32_t c) {
  return c <= 0x20 || c == 0x7f || c == 0x85 || c == 0xa0 || (c >= 0x2000 && c <= 0x200b) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x3000 || c == 0xfeff;
}

bool is_letter_or_digit(char32_t c) {
  if (c < 0x80) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }
  const bool latin_mark = c < 0xc0 && c != 0xaa && c != 0xb5 && c != 0xba;
  const bool mark = latin_mark || c == 0xd7 || c == 0xf7 || (c >= 0x2010 && c <= 0x206f) ||
                    (c >= 0x3001 && c <= 0x303f);
  return !mark && !is_space(c);
}

bool is_connector(char32_t c) {
  return c == 0x2019 || std::u32string_view(U".'-_@/:&+").find(c) != std::u32string_view::npos;
}

bool word_continues_at(std::string_view text, std::size_t position) {
  const CodePoint next = code_point_at(text, position);
  return next.bytes > 0 && is_letter_or_digit(next.value);
}

std::size_t end_of_word(std::string_view text, std::size_t position) {
  while (true) {
    const CodePoint next = code_point_at(text, position);
    if (next.bytes == 0) return position;
    if (is_letter_or_digit(next.value)) {
      position += next.bytes;
    } else if (is_connector(next.value) && word_continues_at(text, position + next.bytes)) {
      position += next.bytes;
    } else if (text.substr(position, 3) == "://" && word_continues_at(text, position + 3)) {
      position += 3;
    } else {
      return position;
    }
  }
}

std::size_t end_of_run(std::string_view text, std::size_t position, const CodePoint& mark) {
  while (position < text.size() && code_point_at(text, position).value == mark.value) {
    position += mark.bytes;
  }
  return position;
}

bool contains(std::u32string_view set, char32_t c) {
  return set.find(c) != set.npos;
}

// No space before these, after these.
bool closes(char32_t c) {
  return contains(U",.;:!?%)]}>'/\u2019\u201d\u2026\u00bb", c);
}
bool opens(char32_t c) {
  return contains(U"([{<`/$#\u2018\u201c\u00ab\u00a7", c);
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  int line_ends = 0;
  std::size_t position = 0;
  while (position < text.size()) {
    const CodePoint first = code_point_at(text, position);
    if (first.bytes == 0 || is_space(first.value)) {
      line_ends += first.value == '\n' ? 1 : 0;
      position += std::max<std::size_t>(first.bytes, 1);
      continue;
    }
    if (line_ends >= 2 && !words.empty()) words.emplace_back(paragraph_break_text);
    line_ends = 0;
    const std::size_t end = is_letter_or_digit(first.value) ? end_of_word(text, position)
                                                            : end_of_run(text, position, first);
    words.emplace_back(text.substr(position, end - position));
    position = end;
  }
  return words;
}

bool is_word(std::string_view token) {
  return word_continues_at(token, 0);
}

TokenId Vocabulary::add(const std::string& token) {
  const auto [entry, is_new] = m_numbers.try_emplace(token, size());
  if (is_new) m_texts.push_back(token);
  return entry->second;
}

std::optional<TokenId> Vocabulary::find(const std::string& token) const {
  const auto entry = m_numbers.find(token);
  if (entry == m_numbers.end()) return std::nullopt;
  return entry->second;
}

// Without a space only where the joined letters still split into the same tokens. Where a word ends
// is said by at most four letters behind it, so that the last words are enough.
bool TextWriter::joins(std::string_view token, bool no_space_before) const {
  if (m_space_wanted && !no_space_before) return false;
  constexpr std::size_t enough = 8;
  const std::size_t skipped = m_chunk_words.size() - std::min(m_chunk_words.size(), enough);
  const auto first = m_chunk_words.begin() + static_cast<std::ptrdiff_t>(skipped);
  std::string end;
  std::for_each(first, m_chunk_words.end(), [&](const std::string& word) { end += word; });
  end += token;
  const std::vector<std::string> words = split_words(end);
  return words.size() == m_chunk_words.size() - skipped + 1 && words.back() == token &&
         std::equal(first, m_chunk_words.end(), words.begin());
}

void TextWriter::append(std::string_view token) {
  if (token == paragraph_break_text) {
    if (!m_text.empty() && !m_text.ends_with(paragraph_break_text)) m_text += token;
    m_chunk_words.clear();
    m_space_wanted = m_quoted = false;
    return;
  }
  const char32_t first = code_point_at(token, 0).value;
  bool no_space_before = closes(first) && !is_word(token);
  bool no_space_after = opens(first);
  if (token == "\"") {
    no_space_before = m_quoted;
    no_space_after = m_quoted = !m_quoted;
  }
  if (!m_chunk_words.empty() && !joins(token, no_space_before)) {
    m_text += ' ';
    m_chunk_words.clear();
  }
  m_text += token;
  m_chunk_words.emplace_back(token);
  m_space_wanted = !no_space_after;
}

std::string wrap_lines(std::string text, std::size_t width) {
  std::size_t column = 0;
  std::size_t last_space = std::string::npos;
  std::size_t column_behind_space = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      column = 0;
      last_space = std::string::npos;
      continue;
    }
    if (text[i] == ' ') {
      last_space = i;
      column_behind_space = column + 1;
    }
    const bool starts_code_point = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    column += starts_code_point ? 1 : 0;
    if (column > width && text[i] != ' ' && last_space != std::string::npos) {
      text[last_space] = '\n';
      column -= column_behind_space;
      last_space = std::string::npos;
    }
  }
  return text;
}

}  // namespace tokkos::tools
