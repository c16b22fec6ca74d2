// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/portable_exp.hpp>

#include <cfloat>
#include <cstdint>

#if defined(__SSE__)
#include <immintrin.h>
#endif

// The library's loops over a chunk of float32 logits on a host, written again with float sums:
// range_of and weigh_groups with its requests for the next chunk (src/kernels/load_chunk.hpp,
// chunk_kernel.hpp), scale_chunk and stream_chunk (scale_chunk.hpp). What they have for masks,
// 16-bit logits and greedy rows is left out.

namespace tokkos::bench {

inline constexpr int floats_of_line = 16;

/// The most chunks that a row may have here.
inline constexpr int most_chunks = 128;

/// The tokens of a chunk without a mask.
struct FloatChunk {
  const float* logits;
  int size;  ///< tokens of the chunk
  int next;  ///< tokens of the chunk behind it

  static constexpr int lanes = 64;

  /// The largest of chunk_size logits. False if one of them is NaN, masks, or is infinite.
  static bool find_maximum(const float* x, float& maximum) {
    float maxima[lanes];
    std::uint32_t odd[lanes];
    for (int j = 0; j < lanes; ++j) {
      maxima[j] = -__builtin_huge_valf();
      odd[j] = 0;
    }
    for (int first = 0; first < chunk_size; first += lanes) {
      for (int j = 0; j < lanes; ++j) {
        const float value = x[first + j];
        odd[j] |= (value > -FLT_MAX) | (value == -__builtin_huge_valf()) ? 0u : 1u;
        maxima[j] = value > maxima[j] ? value : maxima[j];
      }
    }
    std::uint32_t any = 0;
    maximum = -__builtin_huge_valf();
    for (int j = 0; j < lanes; ++j) {
      any |= odd[j];
      maximum = maxima[j] > maximum ? maxima[j] : maximum;
    }
    return any == 0 && maximum > -FLT_MAX && maximum <= FLT_MAX;
  }

  /// Copies the chunk to x, with -infinity for what masks and for tokens that there are not.
  void load(float* x) const {
    for (int j = 0; j < size; ++j)
      x[j] = logits[j] <= -FLT_MAX ? -__builtin_huge_valf() : logits[j];
    for (int j = size; j < chunk_size; ++j) x[j] = -__builtin_huge_valf();
  }

  /// Asks the memory for the tokens that stand one chunk behind [first, first + count).
  void fetch_ahead(int first, int count) const {
    const float* const ahead = logits + chunk_size;
    const int end = first + count < next ? first + count : next;
    for (int j = first; j < end; j += floats_of_line) __builtin_prefetch(ahead + j);
  }

  /// Writes exp((x - maximum) * inverse) to e, by way of x where logits must be loaded; returns the
  /// sum, in float.
  float weigh(float* x, float* e, float inverse, float& maximum) const {
    const float* from = logits;
    if (size < chunk_size || !find_maximum(logits, maximum)) {
      load(x);
      find_maximum(x, maximum);
      from = x;
    }
    float sum = 0.0f;
    for (int g = 0; g < groups_per_chunk; g += lanes) {
      fetch_ahead(4 * g, 4 * lanes);
      sum += weigh_groups(from + g, e + g, maximum, inverse);
    }
    return sum;
  }

  static float weigh_groups(const float* x, float* e, float maximum, float inverse) {
    constexpr int stride = groups_per_chunk;
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int g = 0; g < lanes; ++g) {
      const float e0 = portable_exp((x[g] - maximum) * inverse);
      const float e1 = portable_exp((x[g + stride] - maximum) * inverse);
      const float e2 = portable_exp((x[g + 2 * stride] - maximum) * inverse);
      const float e3 = portable_exp((x[g + 3 * stride] - maximum) * inverse);
      sum += (e0 + e1) + (e2 + e3);
      e[g] = e0;
      e[g + stride] = e1;
      e[g + 2 * stride] = e2;
      e[g + 3 * stride] = e3;
    }
    return sum;
  }
};

/// A weight as probability, exactly 0 below FLT_MIN; `least` leaves out products that would be.
inline float scaled_weight(float weight, float factor, float least) {
  const float p = (weight >= least ? weight : 0.0f) * factor;
  return p >= FLT_MIN ? p : 0.0f;
}

inline float least_weight_of(float factor) {
  return FLT_MIN / factor * (1.0f - 0x1p-20f);
}

inline void scale(const float* e, float* out, float factor, int size) {
  const float least = least_weight_of(factor);
#pragma omp simd
  for (int j = 0; j < size; ++j) out[j] = scaled_weight(e[j], factor, least);
}

/// Writes a line of memory, past the caches where the processor can.
inline void store_line(float* to, const float* from) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, _mm512_loadu_ps(from));
#elif defined(__AVX__)
  for (int j = 0; j < floats_of_line; j += 8) _mm256_stream_ps(to + j, _mm256_loadu_ps(from + j));
#elif defined(__SSE__)
  for (int j = 0; j < floats_of_line; j += 4) _mm_stream_ps(to + j, _mm_loadu_ps(from + j));
#else
  for (int j = 0; j < floats_of_line; ++j) to[j] = from[j];
#endif
}

inline void finish_streamed() {
#if defined(__SSE__)
  _mm_sfence();
#endif
}

/// `scale` with stores of whole lines.
inline void stream_scaled(const float* e, float* out, float factor, int size) {
  constexpr int width = 4 * floats_of_line;
  const float least = least_weight_of(factor);
  const auto past =
      static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / sizeof(float) % floats_of_line);
  const int to_line = (floats_of_line - past) % floats_of_line;
  const int head = to_line < size ? to_line : size;
  int j = 0;
  for (; j < head; ++j) out[j] = scaled_weight(e[j], factor, least);
  for (; j + width <= size; j += width) {
    float block[width];
#pragma omp simd
    for (int k = 0; k < width; ++k) block[k] = scaled_weight(e[j + k], factor, least);
    for (int k = 0; k < width; k += floats_of_line) store_line(out + j + k, block + k);
  }
  for (; j < size; ++j) out[j] = scaled_weight(e[j], factor, least);
}

}  // namespace tokkos::bench
