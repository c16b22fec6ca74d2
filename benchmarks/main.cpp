// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/version.hpp>

#include <Kokkos_Core.hpp>

#include <benchmark/benchmark.h>

#include "baselines/libtorch.hpp"
#include "register.hpp"
#include "reporters.hpp"
#include "selection.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// What the environment says about OpenMP's threads.
std::string openmp_environment() {
  std::string text;
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    if (!text.empty()) text.append(1, ' ');
    text.append(name).append(1, '=').append(value);
  }
  return text;
}

/// Takes --benchmark_list_tests off the command line: Google Benchmark would list its own names.
bool takes_list(int& argc, char* argv[]) {
  const auto asks = [](const char* word) {
    const std::string_view text = word;
    return text == "--benchmark_list_tests" || text == "--benchmark_list_tests=true" ||
           text == "--benchmark_list_tests=1";
  };
  char** const end = std::remove_if(argv + 1, argv + argc, asks);
  const bool found = end != argv + argc;
  argc = static_cast<int>(end - argv);
  argv[argc] = nullptr;
  return found;
}

void print_help() {
  benchmark::PrintDefaultHelp();
  std::cout
      << "\nNames read operation/type/rows/vocabulary[/variant], as they are printed and listed;\n"
         "--benchmark_filter is matched against them and nothing else, so that\n"
         "--benchmark_filter='^probabilities/float32/64/128256$' runs exactly one.\n";
}

/// Widest vectors, in bits, that the library was compiled to.
constexpr int vector_bits() {
#if defined(__AVX512F__)
  return 512;
#elif defined(__AVX2__)
  return 256;
#else
  return 128;
#endif
}

void record_context() {
  using Space = Kokkos::DefaultExecutionSpace;
  benchmark::AddCustomContext("tokkos_version", tokkos::version());
  benchmark::AddCustomContext("tokkos_revision", tokkos::revision());
  benchmark::AddCustomContext("tokkos_build_type", TOKKOS_BENCH_BUILD_TYPE);
  benchmark::AddCustomContext("compiler", TOKKOS_BENCH_COMPILER);
  benchmark::AddCustomContext("flags", TOKKOS_BENCH_FLAGS);
  benchmark::AddCustomContext("vector_bits", std::to_string(vector_bits()));
  benchmark::AddCustomContext("execution_space", Space::name());
  benchmark::AddCustomContext("threads", std::to_string(Space().concurrency()));
  benchmark::AddCustomContext("openmp_environment", openmp_environment());
  benchmark::AddCustomContext("kokkos_configuration", kokkos_configuration());
  benchmark::AddCustomContext("libtorch", tokkos::bench::libtorch_version());
  benchmark::AddCustomContext(
      "copy", "a Kokkos copy kernel with plain stores: each line is read before it is overwritten");
  benchmark::AddCustomContext(
      "library_build_type_is_of",
      "Google Benchmark, which only counts iterations here; tokkos-bench takes the times itself, "
      "so "
      "that a warning that this library was built as DEBUG does not concern them");
}

void register_all() {
  using namespace tokkos::bench;
  register_probabilities();
  register_token();
  register_truncation();
  register_pipeline();
  register_bitmask();
  register_verify();
  register_mixes();
  register_steps();
#if defined(TOKKOS_BENCH_HAS_LM_HEAD)
  register_lm_head();
#endif
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  tokkos::bench::Reporters reporters;
  try {
    reporters = tokkos::bench::reporters_for(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::cerr << "tokkos-bench: " << error.what() << '\n';
    return 1;
  }
  const bool lists = takes_list(argc, argv);
  benchmark::Initialize(&argc, argv, print_help);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  record_context();
  register_all();
  const std::string filter = benchmark::GetBenchmarkFilter();
  try {
    const tokkos::bench::NameFilter names(filter);
    if (lists) {
      tokkos::bench::print_names(names);
      return 0;
    }
    if (tokkos::bench::hand_over(names) == 0) {
      std::cerr << "tokkos-bench: no benchmark's name matches " << filter << '\n';
      return 1;
    }
  } catch (const std::regex_error& error) {
    std::cerr << "tokkos-bench: --benchmark_filter=" << filter << ": " << error.what() << '\n';
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks(reporters.display.get(), reporters.file.get(), ".");
  benchmark::Shutdown();
}
