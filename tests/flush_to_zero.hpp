// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tokkos::test {

/// How the calling thread computes: its control register, without the flags that every operation
/// sets.
inline std::uint64_t floating_point_mode() {
#if defined(__SSE__)
  return _mm_getcsr() & ~0x3fu;
#elif defined(__aarch64__)
  std::uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#else
  return 0;
#endif
}

inline void set_floating_point_mode(std::uint64_t mode) {
#if defined(__SSE__)
  _mm_setcsr(static_cast<unsigned>(mode));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" ::"r"(mode));
#else
  static_cast<void>(mode);
#endif
}

/// The bits that flush subnormal results and operands to zero.
#if defined(__SSE__)
inline constexpr std::uint64_t flush_bits = 0x8040;
#elif defined(__aarch64__)
inline constexpr std::uint64_t flush_bits = std::uint64_t{1} << 24;
#else
inline constexpr std::uint64_t flush_bits = 0;
#endif

/// While it lives, every thread of the default host execution space flushes to zero, as in a
/// program that is linked with fast-math.
class FlushToZero {
 public:
  // LLVM's OpenMP gives the caller back the mode that it had before, and the others the caller's.
  FlushToZero() : m_of_caller(floating_point_mode()), m_saved(threads()) {
    for_each_thread([saved = m_saved.data()](int thread) {
      saved[thread] = floating_point_mode();
      set_floating_point_mode(saved[thread] | flush_bits);
    });
    set_floating_point_mode(m_of_caller | flush_bits);
  }
  ~FlushToZero() {
    set_floating_point_mode(m_of_caller);
    for_each_thread(
        [saved = m_saved.data()](int thread) { set_floating_point_mode(saved[thread]); });
  }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  using Host = Kokkos::DefaultHostExecutionSpace;

  static int threads() { return Host().concurrency(); }

  // One iteration a thread, because the schedule is static.
  template <class Body>
  static void for_each_thread(const Body& body) {
    using Policy = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Static>>;
    Kokkos::parallel_for("tokkos::test::set_mode", Policy(0, threads()), body);
  }

  std::uint64_t m_of_caller;
  std::vector<std::uint64_t> m_saved;
};

/// A subnormal that the compiler cannot fold away, doubled, here and not where the mode is another:
/// 0 when operands or results are flushed.
inline float doubled_subnormal() {
  volatile float tiny = 0x1p-140f;
  volatile float doubled = tiny + tiny;
  return doubled;
}

}  // namespace tokkos::test
