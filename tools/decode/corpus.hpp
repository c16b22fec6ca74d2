// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/tokenizer.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tokkos::tools {

/// Texts as tokens: a paragraph break before each text and behind the last.
struct Corpus {
  Vocabulary vocabulary;
  std::vector<TokenId> tokens;

  /// Adds a text of at least two different words. Lines without letters that are drawn with dashes,
  /// stars and the like count as blank.
  /// @param name of the text, for errors
  /// @throws Error that names it if it has fewer, or if there are 2^19 different words or more
  void add(const std::string& name, const std::string& text);

  /// The tokens of a text that holds none but known ones.
  /// @throws Error that names `name`, the position and the unknown token
  std::vector<TokenId> tokenize(const std::string& name, const std::string& text) const;
};

/// Reads all files.
/// @param after_each called after each file
/// @throws Error that names the file and the reason
Corpus read_corpus(std::span<const std::string> paths,
                   const std::function<void()>& after_each = {});

}  // namespace tokkos::tools
