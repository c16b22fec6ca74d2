// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/version.hpp>

#include <Kokkos_Core.hpp>

#include <benchmark/benchmark.h>

#include "register.hpp"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// Kokkos's own description of its configuration, in one line.
std::string kokkos_configuration() {
  std::ostringstream text;
  Kokkos::print_configuration(text);
  std::string line;
  for (const char letter : text.str()) {
    if (letter == '\n') {
      line += "; ";
    } else if (letter != ' ' || (!line.empty() && line.back() != ' ')) {
      line += letter;
    }
  }
  return line;
}

/// A reporter of names as they were registered, without what Google Benchmark appends to them.
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

bool writes_json(int argc, char* argv[]) {
  const std::vector<std::string> arguments(argv, argv + argc);
  const auto begins = [&](const char* text) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const std::string& word) { return word.rfind(text, 0) == 0; });
  };
  return begins("--benchmark_out=") && !begins("--benchmark_out_format=");
}

void record_context() {
  using Space = Kokkos::DefaultExecutionSpace;
  benchmark::AddCustomContext("tokkos_version", tokkos::version());
  benchmark::AddCustomContext("tokkos_revision", tokkos::revision());
  benchmark::AddCustomContext("compiler", TOKKOS_BENCH_COMPILER);
  benchmark::AddCustomContext("flags", TOKKOS_BENCH_FLAGS);
  benchmark::AddCustomContext("execution_space", Space::name());
  benchmark::AddCustomContext("threads", std::to_string(Space().concurrency()));
  benchmark::AddCustomContext("kokkos_configuration", kokkos_configuration());
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const bool json = writes_json(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  record_context();
  tokkos::bench::register_probabilities();
  tokkos::bench::register_token();
  tokkos::bench::register_truncation();
  tokkos::bench::register_pipeline();
  tokkos::bench::register_bitmask();
  tokkos::bench::register_verify();
  tokkos::bench::register_mixes();
  tokkos::bench::register_steps();
  using Console = benchmark::ConsoleReporter;
  PlainNames<Console> console(isatty(STDOUT_FILENO) ? Console::OO_ColorTabular
                                                    : Console::OO_Tabular);
  PlainNames<benchmark::JSONReporter> file;
  benchmark::RunSpecifiedBenchmarks(&console, json ? &file : nullptr);
  benchmark::Shutdown();
}
