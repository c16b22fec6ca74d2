// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/corpus.hpp"

#include "tools/decode/text_file.hpp"

#include <tokkos/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tokkos::tools {

namespace {

// Lines of nothing but dashes, stars and the like are layout: they become blank lines.
std::string without_rules(std::string text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (text.find_first_not_of("-=*_#~+| \t\r", begin) >= end) {
      std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(begin), end - begin, ' ');
    }
    begin = end + 1;
  }
  return text;
}

}  // namespace

void Corpus::add(const std::string& name, const std::string& text) {
  const std::vector<std::string> words = split_words(without_rules(text));
  const auto first = std::ranges::find_if(words, is_word);
  const bool two_words = std::any_of(
      first, words.end(), [&](const std::string& word) { return is_word(word) && word != *first; });
  if (!two_words) {
    throw Error(name, std::nullopt,
                first == words.end() ? "text without words" : "text of one word only",
                "text of at least two different words");
  }
  if (tokens.empty()) tokens.push_back(paragraph_break);
  for (const std::string& word : words) tokens.push_back(vocabulary.add(word));
  tokens.push_back(paragraph_break);
  require(vocabulary.size() <= max_active_vocabulary, "vocabulary", std::nullopt, vocabulary.size(),
          "at most 524287 different words and punctuation marks");
}

std::vector<TokenId> Corpus::tokenize(const std::string& name, const std::string& text) const {
  std::vector<TokenId> numbers;
  for (const std::string& word : split_words(text)) {
    const auto number = vocabulary.find(word);
    if (!number) {
      throw Error(name, static_cast<std::int64_t>(numbers.size()), "\"" + word + "\"",
                  "a word of the text files");
    }
    numbers.push_back(*number);
  }
  return numbers;
}

Corpus read_corpus(std::span<const std::string> paths, const std::function<void()>& after_each) {
  Corpus corpus;
  for (const std::string& path : paths) {
    corpus.add(path, read_text_file(path));
    if (after_each) after_each();
  }
  return corpus;
}

}  // namespace tokkos::tools
