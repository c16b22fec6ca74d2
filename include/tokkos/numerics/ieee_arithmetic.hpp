// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

#if defined(__SSE__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
#include <xmmintrin.h>
#endif

namespace tokkos {

/// While it lives, this thread computes with subnormal numbers and rounds to nearest-even, whatever
/// mode its program left it in (a program linked with fast-math flushes to zero in every thread).
/// Devices have no such mode: there it does nothing.
class IeeeArithmetic {
 public:
#if defined(__SSE__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  // Flags are kept; only flush-to-zero, denormals-are-zero and the rounding mode are cleared.
  KOKKOS_FUNCTION IeeeArithmetic() : m_saved(_mm_getcsr()) {
    if ((m_saved & mode_bits) != 0) _mm_setcsr(m_saved & ~mode_bits);
  }
  KOKKOS_FUNCTION ~IeeeArithmetic() {
    if ((m_saved & mode_bits) != 0) _mm_setcsr(m_saved);
  }
#elif defined(__aarch64__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  KOKKOS_FUNCTION IeeeArithmetic() {
    asm volatile("mrs %0, fpcr" : "=r"(m_saved));
    if ((m_saved & mode_bits) != 0) asm volatile("msr fpcr, %0" ::"r"(m_saved & ~mode_bits));
  }
  KOKKOS_FUNCTION ~IeeeArithmetic() {
    if ((m_saved & mode_bits) != 0) asm volatile("msr fpcr, %0" ::"r"(m_saved));
  }
#else
  KOKKOS_FUNCTION IeeeArithmetic() {}
  KOKKOS_FUNCTION ~IeeeArithmetic() {}
#endif
  IeeeArithmetic(const IeeeArithmetic&) = delete;
  IeeeArithmetic& operator=(const IeeeArithmetic&) = delete;

 private:
#if defined(__SSE__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  static constexpr unsigned mode_bits = 0xe040;
  unsigned m_saved;
#elif defined(__aarch64__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  static constexpr std::uint64_t mode_bits = std::uint64_t{7} << 22;
  std::uint64_t m_saved;
#endif
};

}  // namespace tokkos
