// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace tokkos {

/// Length of the UTF-8 character that `text` begins with: 1 to 4; 0 if it begins with none
/// (RFC 3629: no overlong forms, no surrogates, nothing past U+10FFFF).
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  const unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < least || byte(1) > most) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  return std::ranges::all_of(text.substr(2, length - 2), continues) ? length : 0;
}

/// Appends `text` as a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD.
inline void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char first = text[0];
    if (length == 0) {
      out += "\\ufffd";
    } else if (static_cast<unsigned char>(first) < 0x20 || first == 0x7F) {
      const auto code = static_cast<unsigned char>(first);
      out += "\\u00";
      out += digits[code >> 4U];
      out += digits[code & 15U];
    } else {
      if (first == '"' || first == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out += '"';
}

}  // namespace tokkos
