// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/io/unfinished_file.hpp"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>

namespace tokkos::tools {

/// A file that a command writes. It appears whole and at the very end, or not at all: until then
/// what stood in its place is unchanged. A device or a pipe is written to directly.
class OutputFile {
 public:
  /// Checks that the file can be made there, without making it.
  /// @param inputs files that the command reads, some of them perhaps missing
  /// @throws Error that names the file if it can't be, or if it is one of the inputs, or the file
  /// that standard output or standard error goes to, by whatever name
  OutputFile(std::string file, std::span<const std::string> inputs);

  /// Writes the content beside the file's place. @throws Error if it cannot be written
  void write(const std::function<void(std::ostream&)>& content);

  /// Flushes `results`, what was printed along with the file, and puts the file into its place.
  /// @throws Error if either fails
  void publish(std::ostream& results);

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void with_reason(const std::function<void()>& step) const;

  std::string m_file;             // as it was given
  std::filesystem::path m_place;  // empty: written directly
  std::optional<UnfinishedFile> m_unfinished;
};

/// @throws Error if the results could not be printed
void flush_results(std::ostream& results);

}  // namespace tokkos::tools
