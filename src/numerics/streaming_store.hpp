// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

// x86 can write whole lines to memory without reading them first; no portable spelling of it
// exists.
#if defined(__SSE__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
#define TOKKOS_STREAMS_LINES
#include <immintrin.h>
#endif

namespace tokkos {

/// Floats of a line of memory.
inline constexpr int floats_per_line = 16;

/// How many floats stand from `to` on before a line begins.
KOKKOS_FORCEINLINE_FUNCTION int floats_to_line(const float* to) {
  constexpr std::uintptr_t bytes = floats_per_line * sizeof(float);
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(to) % bytes;
  return static_cast<int>((bytes - past) % bytes / sizeof(float));
}

/// Writes the line that begins at `to`, past the caches where the processor can: the same bits as
/// 16 assignments. Other threads see it after `finish_streaming`.
KOKKOS_FORCEINLINE_FUNCTION void stream_line(float* to, const float* from) {
#if defined(TOKKOS_STREAMS_LINES) && defined(__AVX512F__)
  _mm512_stream_ps(to, _mm512_loadu_ps(from));
#elif defined(TOKKOS_STREAMS_LINES) && defined(__AVX__)
  for (int j = 0; j < floats_per_line; j += 8) _mm256_stream_ps(to + j, _mm256_loadu_ps(from + j));
#elif defined(TOKKOS_STREAMS_LINES)
  for (int j = 0; j < floats_per_line; j += 4) _mm_stream_ps(to + j, _mm_loadu_ps(from + j));
#else
  for (int j = 0; j < floats_per_line; ++j) to[j] = from[j];
#endif
}

/// Orders the thread's streamed lines before what it writes next.
KOKKOS_FORCEINLINE_FUNCTION void finish_streaming() {
#if defined(TOKKOS_STREAMS_LINES)
  _mm_sfence();
#endif
}

#undef TOKKOS_STREAMS_LINES

}  // namespace tokkos
