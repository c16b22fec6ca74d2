// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "sameness/golden_results.hpp"

#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace tokkos::test {

void GoldenResults::add(const std::string& name, const ResultHash& hash, const std::string& way) {
  const auto [place, is_new] = m_hashes.emplace(name, hash.value());
  if (!is_new && place->second != hash.value()) {
    m_conflicts.push_back(name + ": another result by " + (way.empty() ? "a second way" : way));
  }
}

std::vector<std::string> GoldenResults::differences_from(const GoldenResults& expected) const {
  std::vector<std::string> found = m_conflicts;
  for (const auto& [name, hash] : m_hashes) {
    const auto place = expected.m_hashes.find(name);
    if (place == expected.m_hashes.end()) {
      found.push_back(name + ": not in the file");
    } else if (place->second != hash) {
      found.push_back(name + ": other bits than in the file");
    }
  }
  for (const auto& [name, hash] : expected.m_hashes) {
    if (!m_hashes.contains(name)) found.push_back(name + ": in the file, but no such case");
  }
  return found;
}

GoldenResults GoldenResults::read(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file);
  GoldenResults results;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string name, rest;
    std::uint64_t hash = 0;
    const bool complete = static_cast<bool>(words >> name >> std::hex >> hash) && !(words >> rest);
    if (!complete || !results.m_hashes.emplace(name, hash).second) {
      throw std::runtime_error(file + ": malformed or repeated line: " + line);
    }
  }
  return results;
}

void GoldenResults::write(const std::string& file, const std::string& program) const {
  std::ofstream stream(file);
  // REUSE-IgnoreStart
  stream << "# SPDX-FileCopyrightText: The Tokkos authors\n"
            "# SPDX-License-Identifier: Apache-2.0\n"
            // REUSE-IgnoreEnd
            "#\n"
            "# FNV-1a hashes of the bits of results, one `output/case hash` a line; every backend, "
            "number\n"
            "# of threads and processor must reproduce each of them. To write this file again:\n"
            "#   "
         << program
         << " \"[write-golden-hashes]\"\n"
            "# It changes only together with an entry under \"Numerics\" in CHANGELOG.md.\n";
  stream << std::hex << std::setfill('0');
  for (const auto& [name, hash] : m_hashes) {
    stream << name << ' ' << std::setw(16) << hash << '\n';
  }
  if (!stream.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace tokkos::test
