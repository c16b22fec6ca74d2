// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <memory>

namespace tokkos::bench {

/// What is printed, and what is written to a file (null: nothing), with names as they were
/// registered: Google Benchmark's own reporters append iterations and kind of time to them.
struct Reporters {
  std::unique_ptr<benchmark::BenchmarkReporter> display;
  std::unique_ptr<benchmark::BenchmarkReporter> file;
};

/// Those that --benchmark_format, --benchmark_out and --benchmark_out_format ask for, or the
/// environment variables of these names.
/// @throws std::invalid_argument for a format other than console and json
Reporters reporters_for(int argc, char* argv[]);

}  // namespace tokkos::bench
