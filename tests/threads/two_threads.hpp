// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/chrome_trace_recorder.hpp>

#include <Kokkos_Core.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "engine/read_trace.hpp"
#include "engine/result_bits.hpp"

#include <array>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace tokkos::test {

/// Two instances to work on at the same time: the default one twice, or one for each.
template <class ExecutionSpace>
std::vector<ExecutionSpace> two_instances(bool own) {
  const ExecutionSpace space;
  if (!own) return {space, space};
  return Kokkos::Experimental::partition_space(space, std::vector<int>{1, 1});
}

/// What `work(0)` and `work(1)` return, each on a thread of its own. Rethrows what one throws.
template <class Work>
std::array<Bits, 2> run_together(const Work& work) {
  std::array<Bits, 2> together;
  std::array<std::exception_ptr, 2> problems;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        try {
          together[i] = work(i);
        } catch (...) {
          problems[i] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
  return together;
}

/// Checks that `run(space, seed, trace)` yields on two threads, with objects of their own, the bits
/// that it yields alone; they share a trace.
template <class ExecutionSpace, class Run>
void check_two_threads(const Run& run) {
  const ExecutionSpace space;
  const std::array<Bits, 2> alone{run(space, 1, nullptr), run(space, 2, nullptr)};
  REQUIRE((alone[0] != alone[1]));  // not the million of them
  const bool own_instances = GENERATE(false, true);
  CAPTURE(own_instances);
  const auto spaces = two_instances<ExecutionSpace>(own_instances);
  ChromeTraceRecorder trace;
  const auto together = run_together([&](std::size_t i) { return run(spaces[i], i + 1, &trace); });
  for (std::size_t i = 0; i < 2; ++i) CHECK((together[i] == alone[i]));
  CHECK(read_trace(trace.json()).dropped_stages == 0);
}

}  // namespace tokkos::test
