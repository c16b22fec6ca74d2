// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// probabilities/float32/<rows>/<vocabulary>: softmax with temperature to a separate output, beside
// a copy of the same bytes that is timed in turn with it.

#include <tokkos/kernels/softmax_with_temperature.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "timing.hpp"

#include <Kokkos_Core.hpp>

#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

namespace tokkos::bench {

void register_softmax();

namespace {

using Logits = Kokkos::View<float**, Kokkos::LayoutRight, Space>;

/// Normally distributed logits of deviation 2.5. Each row starts one further into the same numbers:
/// generating 10^8 of them would take longer than the benchmark.
Logits normal_logits(std::int64_t rows, std::int64_t vocabulary) {
  std::mt19937 generator(2024);
  std::normal_distribution<float> normal(0.0f, 2.5f);
  std::vector<float> numbers(static_cast<std::size_t>(rows + vocabulary));
  for (float& number : numbers) number = normal(generator);
  Logits logits(Kokkos::view_alloc("tokkos::bench::logits", Kokkos::WithoutInitializing), rows,
                vocabulary);
  const auto host = Kokkos::create_mirror_view(logits);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t v = 0; v < vocabulary; ++v) {
      host(i, v) = numbers[static_cast<std::size_t>(i + v)];
    }
  }
  Kokkos::deep_copy(logits, host);
  return logits;
}

/// Reads and writes every element once.
void copy(const Space& space, const Logits& from, const Logits& to) {
  const float* source = from.data();
  float* target = to.data();
  Kokkos::parallel_for(
      "tokkos::bench::copy",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
          space, 0, static_cast<std::int64_t>(from.size())),
      KOKKOS_LAMBDA(const std::int64_t i) { target[i] = source[i]; });
}

void probabilities(benchmark::State& state, std::int64_t rows, std::int64_t vocabulary) {
  const Space space;
  const Logits logits = normal_logits(rows, vocabulary);
  const Logits output("tokkos::bench::probabilities", rows, vocabulary);
  const Kokkos::View<float*, Space> temperature("tokkos::bench::temperature", 1);
  Kokkos::deep_copy(temperature, 0.8f);
  const Workspace<MemoryOf<Space>> workspace(rows, vocabulary);
  const auto softmax_once = [&] {
    softmax_with_temperature(space, logits, temperature, output, workspace);
  };
  const auto copy_once = [&] { copy(space, logits, output); };
  for (int warm_up = 0; warm_up < 2; ++warm_up) {
    softmax_once();
    copy_once();
  }
  std::vector<double> softmax_seconds;
  std::vector<double> copy_seconds;
  for (auto _ : state) {
    softmax_seconds.push_back(seconds_of(space, softmax_once));
    copy_seconds.push_back(seconds_of(space, copy_once));
    state.SetIterationTime(softmax_seconds.back());
  }
  const double bytes = 2.0 * sizeof(float) * static_cast<double>(logits.size());
  const double seconds = median(softmax_seconds);
  state.counters["bytes_per_second"] = bytes / seconds;
  state.counters["copy_ratio"] = seconds / median(copy_seconds);
  state.counters["median_seconds"] = seconds;
}

}  // namespace

void register_softmax() {
  for (const std::int64_t vocabulary : {32000, 128256, 262144}) {
    for (const std::int64_t rows : {1, 64, 512}) {
      const std::string name =
          "probabilities/float32/" + std::to_string(rows) + '/' + std::to_string(vocabulary);
      benchmark::RegisterBenchmark(
          name.c_str(), [=](benchmark::State& state) { probabilities(state, rows, vocabulary); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(iterations_for(rows * vocabulary));
    }
  }
}

}  // namespace tokkos::bench
