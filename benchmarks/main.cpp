// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/version.hpp>

#include <Kokkos_Core.hpp>

#include <benchmark/benchmark.h>

#include <sstream>
#include <string>

namespace tokkos::bench {
void register_softmax();
}

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
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  record_context();
  tokkos::bench::register_softmax();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
