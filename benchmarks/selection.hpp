// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <regex>
#include <string>

// Which benchmarks run. Google Benchmark appends iterations and the kind of time to names before it
// filters them; here --benchmark_filter is matched against the names that are documented, printed
// and written to JSON, and Google Benchmark gets to know only those that match.

namespace tokkos::bench {

/// Keeps a benchmark for `hand_over`.
void add_benchmark(const std::string& name, std::int64_t iterations,
                   const std::function<void(benchmark::State&)>& function);

/// --benchmark_filter: an extended regular expression that may match any part of a name; one with a
/// minus before it selects the names that do not match. Empty or "all": every name.
class NameFilter {
 public:
  /// @throws std::regex_error
  explicit NameFilter(const std::string& text);
  bool selects(const std::string& name) const;

 private:
  bool m_negative;
  std::regex m_pattern;
};

/// Hands the selected benchmarks over to Google Benchmark; returns how many.
std::size_t hand_over(const NameFilter& filter);

/// Prints the selected names, one a line.
void print_names(const NameFilter& filter);

}  // namespace tokkos::bench
