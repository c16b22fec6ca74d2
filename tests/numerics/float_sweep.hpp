// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace tokkos::test {

/// What a walk through many floats found out about a function.
struct SweepFindings {
  double worst_ulp = 0.0;
  float worst_at = 0.0f;
  std::uint64_t visited = 0;
  std::uint64_t not_monotone = 0;
  std::uint64_t wrong_zero = 0;  ///< zero where it must not be, or not where it must

  /// The errors of consecutive floats from `first` on; a NaN counts as infinite.
  void note(const double* error_in_ulp, std::uint32_t first, std::uint32_t count) {
    // Patterns of numbers >= 0 are ordered as the numbers are, and loops of integers vectorize.
    std::int64_t largest = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      largest = std::max(largest, std::bit_cast<std::int64_t>(error_in_ulp[i]));
    }
    const auto worst = std::bit_cast<double>(largest);
    if (worst <= worst_ulp) return;
    worst_ulp = std::isnan(worst) ? HUGE_VAL : worst;
    const auto* at = std::find_if(error_in_ulp, error_in_ulp + count, [&](double error) {
      return std::bit_cast<std::int64_t>(error) == largest;
    });
    worst_at = std::bit_cast<float>(first + static_cast<std::uint32_t>(at - error_in_ulp));
  }

  void merge(const SweepFindings& other) {
    if (other.worst_ulp > worst_ulp) {
      worst_ulp = other.worst_ulp;
      worst_at = other.worst_at;
    }
    visited += other.visited;
    not_monotone += other.not_monotone;
    wrong_zero += other.wrong_zero;
  }
};

/// A float32's unit in the last place at a (normal) exact value.
inline double float_ulp(double exact) {
  constexpr std::uint64_t exponent_field = std::uint64_t{0x7ff} << 52;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(exact) & exponent_field) * 0x1p-23;
}

/// Calls body(block, findings) for every block in [0, blocks), on all cores of the host.
template <class Body>
SweepFindings sweep_blocks(std::uint64_t blocks, const Body& body) {
  std::atomic<std::uint64_t> next{0};
  std::mutex merging;
  SweepFindings total;
  const auto work = [&] {
    SweepFindings mine;
    for (std::uint64_t block = next++; block < blocks; block = next++) body(block, mine);
    const std::lock_guard lock(merging);
    total.merge(mine);
  };
  std::vector<std::thread> threads;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < cores; ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  return total;
}

}  // namespace tokkos::test
