// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/output_file.hpp"

#include <tokkos/core/error.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <ostream>
#include <system_error>
#include <utility>

namespace tokkos::tools {

namespace {

namespace fs = std::filesystem;

/// Whether a file is the regular one that the stream writes to.
bool is_open_as(const std::string& file, int stream) {
  struct stat one {};
  struct stat other {};
  return stat(file.c_str(), &one) == 0 && fstat(stream, &other) == 0 && S_ISREG(one.st_mode) &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Where a file stands or would be made: the end of a chain of symbolic links.
std::optional<fs::path> follow_links(fs::path place) {
  constexpr int most = 40;
  std::error_code problem;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place, problem)); ++links) {
    const fs::path target = fs::read_symlink(place, problem);
    if (problem || links == most) return std::nullopt;
    place = place.parent_path() / target;
  }
  return place;
}

}  // namespace

OutputFile::OutputFile(std::string file, std::span<const std::string> inputs)
    : m_file(std::move(file)) {
  std::error_code problem;
  for (const std::string& input : inputs) {
    if (!fs::equivalent(m_file, input, problem) || problem) continue;
    throw Error(m_file, std::nullopt, "the input file " + input, "an output file of its own");
  }
  if (is_open_as(m_file, STDOUT_FILENO) || is_open_as(m_file, STDERR_FILENO)) {
    throw Error(m_file, std::nullopt, "where standard output or standard error goes",
                "an output file of its own");
  }
  const fs::file_status status = fs::status(m_file, problem);
  if (status.type() == fs::file_type::none) refuse(problem.message());
  if (fs::is_directory(status)) refuse("it is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) return;  // must not be replaced
  if (fs::exists(status) && access(m_file.c_str(), W_OK) != 0) refuse(std::strerror(errno));

  const auto place = follow_links(m_file);
  if (!place) refuse("its symbolic links lead nowhere");
  m_place = *place;
  if (!m_place.has_filename()) refuse("it names no file");
  const fs::path folder = m_place.has_parent_path() ? m_place.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, problem)) refuse("there is no directory " + folder.string());
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse("its directory " + folder.string() + ": " + std::strerror(errno));
  }
}

void OutputFile::write(const std::function<void(std::ostream&)>& content) {
  if (!m_place.empty()) {
    const fs::path folder = m_place.has_parent_path() ? m_place.parent_path() : fs::path(".");
    with_reason([&] { m_unfinished.emplace(folder, m_place).write(content); });
    return;
  }
  errno = 0;
  std::ofstream stream(m_file, std::ios::binary | std::ios::trunc);
  content(stream);
  stream.close();
  if (!stream) refuse(errno != 0 ? std::strerror(errno) : "a write failed");
}

void OutputFile::publish(std::ostream& results) {
  flush_results(results);
  if (m_unfinished) with_reason([&] { m_unfinished->rename(m_place); });
}

void OutputFile::with_reason(const std::function<void()>& step) const {
  try {
    step();
  } catch (const std::system_error& problem) {
    refuse(problem.code().message());
  }
}

void OutputFile::refuse(const std::string& why) const {
  throw Error(m_file, std::nullopt, "not writable (" + why + ")", "a place for the output file");
}

void flush_results(std::ostream& results) {
  if (results.flush()) return;
  throw Error("standard output", std::nullopt, "not writable", "a place for the results");
}

}  // namespace tokkos::tools
