// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tokkos::bench {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;

inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;

/// What a benchmark times: `work`, fenced on both sides, after `prepare`, which is not timed.
struct Timed {
  std::function<void()> work;
  std::function<void()> prepare = {};
  bool waits = false;  ///< whether it waits for a device
};

/// Something that is timed in turn with the benchmark's own work.
struct Rival {
  std::string counter;      ///< name of the ratio
  bool is_speedup = false;  ///< the ratio is rival / own (how often faster), else own / rival
  Timed timed;
};

/// Runs a benchmark: own work and rivals in turn, once per iteration, after two rounds of warm-up.
/// Each iteration takes another order, so that none always finds the caches as the same one left
/// them. Reports medians: seconds, its own and each rival's, bytes_per_second for `bytes` that one
/// run moves, the ratios of the times of one iteration, and on a GPU `device_seconds`, without the
/// host's part in launches and fences.
void run_timed(benchmark::State& state, double bytes, const Timed& own,
               const std::vector<Rival>& rivals = {});

/// Registers `function` for `elements` logits a run: at least 11 iterations, more where one run is
/// short.
void register_timed(const std::string& name, std::int64_t elements,
                    const std::function<void(benchmark::State&)>& function);

}  // namespace tokkos::bench
