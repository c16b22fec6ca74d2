// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_seconds.hpp"

#include <Kokkos_Core.hpp>

#include <chrono>
#include <cstdint>

namespace tokkos::bench {

namespace {

namespace tools = Kokkos::Tools::Experimental;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Kokkos calls functions, not objects; kernels do not nest.
std::string_view wanted;
double named_seconds = 0;
Clock::time_point kernel_begin;

void begin_kernel(const char* label, std::uint32_t, std::uint64_t* id) {
  *id = std::string_view(label).starts_with(wanted) ? 1 : 0;
  kernel_begin = Clock::now();
}

void end_kernel(std::uint64_t id) {
  if (id == 1) named_seconds += seconds_since(kernel_begin);
}

}  // namespace

KernelSeconds seconds_of_kernels(const std::function<void()>& work, std::string_view prefix) {
  const auto previous = tools::get_callbacks();
  wanted = prefix;
  named_seconds = 0;
  tools::set_begin_parallel_for_callback(begin_kernel);
  tools::set_end_parallel_for_callback(end_kernel);
  Kokkos::fence("tokkos::bench::before");
  const auto begin = Clock::now();
  work();
  Kokkos::fence("tokkos::bench::after");
  const double all = seconds_since(begin);
  tools::set_callbacks(previous);
  return {all, named_seconds};
}

}  // namespace tokkos::bench
