// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/text_file.hpp"

#include <tokkos/core/error.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

namespace tokkos::tools {

namespace {

constexpr std::size_t max_text_bytes = std::size_t{1} << 30;

std::string byte_name(unsigned char byte) {
  constexpr const char* digits = "0123456789abcdef";
  return {'b', 'y', 't', 'e', ' ', '0', 'x', digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t position) {
  if (position >= text.size()) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || position + bytes > text.size()) return {};
  char32_t value = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3fu);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest[bytes] || surrogate || value > 0x10ffff) return {};
  return {value, bytes};
}

void check_utf8(const std::string& name, std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    const CodePoint next = code_point_at(text, position);
    if (next.bytes == 0 || next.value == 0) {
      throw Error(name, static_cast<std::int64_t>(position),
                  byte_name(static_cast<unsigned char>(text[position])), "UTF-8 text");
    }
    position += next.bytes;
  }
}

std::string read_text_file(const std::string& path) {
  constexpr const char* expected = "a file of UTF-8 text";
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(path, std::nullopt, "a folder", expected);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(path, std::nullopt, std::string("unreadable (") + std::strerror(errno) + ")",
                expected);
  }
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())), file.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > max_text_bytes) {
      throw Error(path, std::nullopt, "longer than 1 GiB", "text of at most 1 GiB");
    }
  }
  if (file.bad()) throw Error(path, std::nullopt, "unreadable (read error)", expected);
  check_utf8(path, text);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  if (text.empty())
    throw Error(path, std::nullopt, "empty", "text of at least two different words");
  return text;
}

}  // namespace tokkos::tools
