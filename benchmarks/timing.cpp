// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "timing.hpp"

#include "selection.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>

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

/// The median of what one took to what the other took in the same iteration, which forgives what
/// slows the machine for longer.
double median_ratio(const std::vector<double>& one, const std::vector<double>& other) {
  std::vector<double> ratios(one.size());
  for (std::size_t i = 0; i < one.size(); ++i) ratios[i] = one[i] / other[i];
  return median(std::move(ratios));
}

/// "copy_seconds" of what copy_ratio is the ratio to.
std::string seconds_counter(const Rival& rival) {
  return rival.counter.substr(0, rival.counter.rfind('_')) + "_seconds";
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
  std::vector<const Timed*> works{&own};
  for (const Rival& rival : rivals) works.push_back(&rival.timed);
  for (int round = 0; round < 2; ++round) {
    for (const Timed* work : works) seconds_of(*work);
  }
  std::vector<std::vector<double>> seconds_by_work(works.size());
  std::vector<std::size_t> order(works.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (auto _ : state) {
    for (const std::size_t i : order) seconds_by_work[i].push_back(seconds_of(*works[i]));
    state.SetIterationTime(seconds_by_work[0].back());
    std::next_permutation(order.begin(), order.end());
  }
  const double seconds = median(seconds_by_work[0]);
  state.counters["median_seconds"] = seconds;
  state.counters["bytes_per_second"] = bytes / seconds;
  if (!runs_on_host && !own.waits) {
    state.counters["device_seconds"] = seconds_on_device(own);
  }
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    state.counters[seconds_counter(rivals[i])] = median(seconds_by_work[i + 1]);
    state.counters[rivals[i].counter] =
        rivals[i].is_speedup ? median_ratio(seconds_by_work[i + 1], seconds_by_work[0])
                             : median_ratio(seconds_by_work[0], seconds_by_work[i + 1]);
  }
}

void register_timed(const std::string& name, std::int64_t elements,
                    const std::function<void(benchmark::State&)>& function) {
  const std::int64_t iterations =
      std::clamp<std::int64_t>((std::int64_t{1} << 30) / elements, 11, 500);
  add_benchmark(name, iterations, function);
}

}  // namespace tokkos::bench
