// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "selection.hpp"

#include <iostream>
#include <vector>

namespace tokkos::bench {

namespace {

struct Registered {
  std::string name;
  std::int64_t iterations;
  std::function<void(benchmark::State&)> function;
};

std::vector<Registered>& all_registered() {
  static std::vector<Registered> all;
  return all;
}

std::string pattern_in(const std::string& filter) {
  const std::string text = filter.rfind('-', 0) == 0 ? filter.substr(1) : filter;
  return text.empty() || text == "all" ? "." : text;
}

}  // namespace

void add_benchmark(const std::string& name, std::int64_t iterations,
                   const std::function<void(benchmark::State&)>& function) {
  all_registered().push_back({name, iterations, function});
}

NameFilter::NameFilter(const std::string& text)
    : m_negative(text.rfind('-', 0) == 0),
      m_pattern(pattern_in(text), std::regex::extended | std::regex::nosubs) {}

bool NameFilter::selects(const std::string& name) const {
  return std::regex_search(name, m_pattern) != m_negative;
}

std::size_t hand_over(const NameFilter& filter) {
  std::size_t count = 0;
  for (const Registered& one : all_registered()) {
    if (!filter.selects(one.name)) continue;
    benchmark::RegisterBenchmark(one.name.c_str(), one.function)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(one.iterations);
    ++count;
  }
  return count;
}

void print_names(const NameFilter& filter) {
  for (const Registered& one : all_registered()) {
    if (filter.selects(one.name)) std::cout << one.name << '\n';
  }
}

}  // namespace tokkos::bench
