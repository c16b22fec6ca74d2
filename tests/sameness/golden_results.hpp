// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sameness/result_hash.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tokkos::test {

/// Named hashes of results.
class GoldenResults {
 public:
  /// Adds a hash. Where two ways lead to one result both add it under its name, and a difference is
  /// remembered; `way` tells them apart.
  void add(const std::string& name, const ResultHash& hash, const std::string& way = "");

  const std::map<std::string, std::uint64_t>& hashes() const { return m_hashes; }

  /// One line for each hash that is missing, too many, or different from `expected`, and for each
  /// two ways that differ.
  std::vector<std::string> differences_from(const GoldenResults& expected) const;

  /// Lines `name hash`; those that begin with # are comments.
  /// @throws std::runtime_error if the file is missing, or a line is malformed or stands twice
  static GoldenResults read(const std::string& file);
  /// Writes such a file, whose comment says that `program` wrote it.
  void write(const std::string& file, const std::string& program) const;

 private:
  std::map<std::string, std::uint64_t> m_hashes;
  std::vector<std::string> m_conflicts;
};

}  // namespace tokkos::test
