// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "timing.hpp"

#include "selection.hpp"

#include <algorithm>
#include <chrono>

namespace tokkos::bench {

namespace {

double seconds_of(const Timed& timed) {
  if (timed.prepare) timed.prepare();
  Kokkos::fence("tokkos::bench::before");
  const auto begin = std::chrono::steady_clock::now();
  timed.work();
  Kokkos::fence("tokkos::bench::after");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Keeps a device busy for some milliseconds.
void delay(const Kokkos::View<std::uint32_t, Memory>& bits) {
  Kokkos::parallel_for(
      "tokkos::bench::delay", Kokkos::RangePolicy<Space>(0, 1), KOKKOS_LAMBDA(const int) {
        std::uint32_t mixed = bits();
        for (int i = 0; i < 1 << 20; ++i) mixed = mixed * 1664525u + 1013904223u;
        bits() = mixed;
      });
}

/// Seconds that one run takes on a device, without the host's part in launches and fences: several
/// are launched while the device is busy with something else, with and without the work itself.
double seconds_on_device(const Timed& timed) {
  constexpr int rounds = 11, runs = 32;
  const Kokkos::View<std::uint32_t, Memory> bits("tokkos::bench::delay");
  std::vector<double> with, without;
  for (int round = 0; round < rounds; ++round) {
    for (const bool works : {true, false}) {
      const double seconds = seconds_of({[&] {
        delay(bits);
        for (int run = 0; run < runs; ++run) {
          if (timed.prepare) timed.prepare();
          if (works) timed.work();
        }
      }});
      (works ? with : without).push_back(seconds);
    }
  }
  return (median(with) - median(without)) / runs;
}

}  // namespace

void run_timed(benchmark::State& state, double bytes, const Timed& own,
               const std::vector<Rival>& rivals) {
  std::vector<double> own_seconds;
  std::vector<std::vector<double>> rival_seconds(rivals.size());
  for (int round = 0; round < 2; ++round) {
    seconds_of(own);
    for (const Rival& rival : rivals) seconds_of(rival.timed);
  }
  for (auto _ : state) {
    own_seconds.push_back(seconds_of(own));
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      rival_seconds[i].push_back(seconds_of(rivals[i].timed));
    }
    state.SetIterationTime(own_seconds.back());
  }
  const double seconds = median(own_seconds);
  state.counters["median_seconds"] = seconds;
  state.counters["bytes_per_second"] = bytes / seconds;
  if (!runs_on_host && !own.waits) {
    state.counters["device_seconds"] = seconds_on_device(own);
  }
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    const double rival = median(rival_seconds[i]);
    state.counters[rivals[i].counter] = rivals[i].is_speedup ? rival / seconds : seconds / rival;
  }
}

void register_timed(const std::string& name, std::int64_t elements,
                    const std::function<void(benchmark::State&)>& function) {
  const std::int64_t iterations =
      std::clamp<std::int64_t>((std::int64_t{1} << 30) / elements, 11, 500);
  add_benchmark(name, iterations, function);
}

}  // namespace tokkos::bench
