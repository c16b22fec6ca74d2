// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace tokkos::test {

/// All that a thread's steps yield, as bits.
using Bits = std::vector<std::uint32_t>;

/// Appends results of 32 bits each.
template <class T>
void append(Bits& bits, const std::vector<T>& results) {
  for (const T& value : results) bits.push_back(std::bit_cast<std::uint32_t>(value));
}

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

}  // namespace tokkos::test
