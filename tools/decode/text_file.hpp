// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tokkos::tools {

/// A Unicode code point and the number of bytes that it takes in UTF-8; 0 bytes for bytes that are
/// not UTF-8 (RFC 3629: no overlong form, no surrogate, nothing past U+10FFFF).
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};

/// The code point that starts at text[position]; 0 bytes at the end of the text.
CodePoint code_point_at(std::string_view text, std::size_t position);

/// Checks that `text` is UTF-8 without NUL.
/// @param name file or option that the text came from
/// @throws Error that names it, the offset and the first bad byte
void check_utf8(const std::string& name, std::string_view text);

/// Reads a UTF-8 file of at most 1 GiB; a byte order mark at its start is left out.
/// @throws Error that names the file and the reason if it cannot be read or is empty or not UTF-8
std::string read_text_file(const std::string& path);

}  // namespace tokkos::tools
