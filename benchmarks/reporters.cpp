// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reporters.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tokkos::bench {

namespace {

template <class Reporter>
class PlainNames : public Reporter {
 public:
  using Reporter::Reporter;
  void ReportRuns(const std::vector<typename Reporter::Run>& runs) override {
    std::vector<typename Reporter::Run> plain = runs;
    for (auto& run : plain) {
      run.run_name.iterations.clear();
      run.run_name.time_type.clear();
    }
    Reporter::ReportRuns(plain);
  }
};

/// Value of `--name=value`, else of the environment variable NAME, else `otherwise`.
std::string option(int argc, char* argv[], const std::string& name, const std::string& otherwise) {
  const std::string prefix = "--" + name + "=";
  for (int i = argc - 1; i > 0; --i) {
    const std::string_view word = argv[i];
    if (word.substr(0, prefix.size()) == prefix) return std::string(word.substr(prefix.size()));
  }
  std::string variable = name;
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const char* const value = std::getenv(variable.c_str());
  return value != nullptr ? value : otherwise;
}

std::unique_ptr<benchmark::BenchmarkReporter> reporter(const std::string& name,
                                                       const std::string& format) {
  using Console = benchmark::ConsoleReporter;
  if (format == "json") return std::make_unique<PlainNames<benchmark::JSONReporter>>();
  if (format == "console") {
    return std::make_unique<PlainNames<Console>>(isatty(STDOUT_FILENO) ? Console::OO_ColorTabular
                                                                       : Console::OO_Tabular);
  }
  throw std::invalid_argument("--" + name + " is " + format + ", expected console or json");
}

}  // namespace

Reporters reporters_for(int argc, char* argv[]) {
  Reporters reporters;
  reporters.display =
      reporter("benchmark_format", option(argc, argv, "benchmark_format", "console"));
  const std::string format = option(argc, argv, "benchmark_out_format", "json");
  if (!option(argc, argv, "benchmark_out", "").empty()) {
    reporters.file = reporter("benchmark_out_format", format);
  }
  return reporters;
}

}  // namespace tokkos::bench
