// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>

namespace tokkos::tools {

/// A file that is being written beside the place that it will have. It is made by this object,
/// under a name that nobody can foresee, and is gone with it unless it was renamed.
class UnfinishedFile {
 public:
  /// Makes the file. @throws std::system_error
  /// @param replaced the file whose permissions it gets, if there is one
  UnfinishedFile(const std::filesystem::path& folder, const std::filesystem::path& replaced);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  /// Writes the content and closes the file. @throws std::system_error if it cannot be written
  void write(const std::function<void(std::ostream&)>& content);

  /// Puts the file into its place. @throws std::system_error
  void rename(const std::filesystem::path& place);

 private:
  void create(const std::filesystem::path& folder, unsigned mode);

  std::filesystem::path m_path;
  int m_descriptor = -1;
  std::optional<unsigned> m_mode;  // none: as the umask says
};

/// From now on a process that ends by SIGINT, SIGTERM or SIGHUP takes its unfinished file with it
/// (the first of several), and a write past a limit on the size of files fails instead of ending
/// the process. A signal that is ignored stays ignored.
void remove_unfinished_file_on_signals();

}  // namespace tokkos::tools
