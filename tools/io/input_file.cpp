// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/input_file.hpp"

#include <tokkos/core/error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tokkos::tools {

std::uint64_t open_input_file(const std::string& file, std::ifstream& stream) {
  const char* expected = "a file that can be read";
  std::error_code problem;
  const auto status = std::filesystem::status(file, problem);
  if (status.type() == std::filesystem::file_type::none) {
    throw Error(file, std::nullopt, "not readable (" + problem.message() + ")", expected);
  }
  if (!std::filesystem::exists(status)) throw Error(file, std::nullopt, "missing", expected);
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(file, std::nullopt, "no regular file", expected);
  }
  const std::uint64_t bytes = std::filesystem::file_size(file, problem);
  errno = 0;
  if (!problem) stream.open(file, std::ios::binary);
  if (problem || !stream) {
    throw Error(file, std::nullopt,
                "not readable (" + (problem ? problem.message() : std::strerror(errno)) + ")",
                expected);
  }
  return bytes;
}

std::string read_input_file(const std::string& file) {
  std::ifstream stream;
  std::string text(open_input_file(file, stream), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream) throw Error(file, std::nullopt, "not readable", "a file that stays as it was");
  return text;
}

}  // namespace tokkos::tools
