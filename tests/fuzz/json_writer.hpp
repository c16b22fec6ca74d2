// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tokkos::test {

/// Text of a JSON object or array, member by member, with nothing checked.
class JsonText {
 public:
  explicit JsonText(char open) : m_text(1, open), m_close(open == '{' ? '}' : ']') {}

  void add(std::string_view value) {
    if (m_text.size() > 1) m_text += ',';
    m_text += value;
  }
  void add(std::string_view key, std::string_view value) {
    add('"' + std::string(key) + "\":" + std::string(value));
  }
  std::string text() const { return m_text + m_close; }

 private:
  std::string m_text;
  char m_close;
};

}  // namespace tokkos::test
