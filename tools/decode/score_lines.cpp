// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/score_lines.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <ostream>
#include <string>

namespace tokkos::tools {

namespace {

std::string number(const char* format, float value) {
  std::array<char, 32> buffer;
  std::snprintf(buffer.data(), buffer.size(), format, static_cast<double>(value));
  return buffer.data();
}

std::string quoted(const std::string& word) {
  std::string text = "\"";
  for (const char letter : word) {
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter == '\n' ? std::string("\\n") : std::string(1, letter);
  }
  return text + "\"";
}

}  // namespace

void print_scores(std::ostream& out, std::span<const TokenId> tokens,
                  std::span<const TokenScore> scores, const Vocabulary& vocabulary) {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    out << number("%9.4f", scores[i].log_probability) << "  " << quoted(vocabulary.text(tokens[i]));
    const char* before = "  (";
    for (const auto& [token, value] : scores[i].most_likely) {
      out << before << quoted(vocabulary.text(token)) << ' ' << number("%.4f", value);
      before = ", ";
    }
    out << (scores[i].most_likely.empty() ? "\n" : ")\n");
  }
}

}  // namespace tokkos::tools
