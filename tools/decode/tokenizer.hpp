// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tokkos::tools {

/// Text of the token that stands for the blank line between two paragraphs.
inline constexpr std::string_view paragraph_break_text = "\n\n";

/// Its number in every Vocabulary.
inline constexpr TokenId paragraph_break = 0;

/// The tokens of a UTF-8 text: words (letters and digits, joined by single . ' - _ @ / : & + or by
/// ://), runs of one punctuation mark, and a paragraph break for blank lines between two tokens.
std::vector<std::string> split_words(std::string_view text);

/// Whether a token of split_words is a word, not punctuation or a paragraph break.
bool is_word(std::string_view token);

/// The different tokens of a text, numbered in the order in which they were added.
class Vocabulary {
 public:
  Vocabulary() { add(std::string(paragraph_break_text)); }

  /// The token's number, a new one if it is new.
  TokenId add(const std::string& token);
  std::optional<TokenId> find(const std::string& token) const;
  const std::string& text(TokenId token) const { return m_texts[static_cast<std::size_t>(token)]; }
  TokenId size() const { return static_cast<TokenId>(m_texts.size()); }

 private:
  std::vector<std::string> m_texts;
  std::unordered_map<std::string, TokenId> m_numbers;
};

/// Writes tokens as readable text: split_words of the text gives the tokens back (but for paragraph
/// breaks at its ends or one after the other). Text already written never changes.
class TextWriter {
 public:
  void append(std::string_view token);
  const std::string& text() const { return m_text; }

 private:
  bool joins(std::string_view token, bool no_space_before) const;

  std::string m_text;
  std::vector<std::string> m_chunk_words;  // its tokens
  bool m_space_wanted = false;             // after the last token
  bool m_quoted = false;                   // inside quotation marks
};

/// Replaces spaces by line ends so that lines have at most `width` code points where words allow
/// it.
std::string wrap_lines(std::string text, std::size_t width);

}  // namespace tokkos::tools
