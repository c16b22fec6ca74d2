// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "baselines/float_sums.hpp"

#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/portable_exp.hpp>

#include <cfloat>

namespace tokkos::bench {

namespace {

constexpr int max_chunks = 128;

/// The largest of `size` logits; each is also left in x.
float load(const float* logits, int size, float* x) {
  constexpr int lanes = 32;
  float maxima[lanes];
  for (float& maximum : maxima) maximum = -FLT_MAX;
  int i = 0;
  for (; i + lanes <= size; i += lanes) {
    for (int j = 0; j < lanes; ++j) {
      x[i + j] = logits[i + j];
      maxima[j] = x[i + j] > maxima[j] ? x[i + j] : maxima[j];
    }
  }
  for (; i < size; ++i) {
    x[i] = logits[i];
    maxima[0] = x[i] > maxima[0] ? x[i] : maxima[0];
  }
  float maximum = maxima[0];
  for (const float lane : maxima) maximum = lane > maximum ? lane : maximum;
  return maximum;
}

float weigh(const float* x, int size, float maximum, float inverse, float* e) {
  float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < size; ++i) {
    e[i] = portable_exp((x[i] - maximum) * inverse);
    sum += e[i];
  }
  return sum;
}

void softmax_row(const float* logits, std::int64_t vocabulary, float inverse, float* out) {
  alignas(64) float x[chunk_size];
  float maxima[max_chunks], sums[max_chunks];
  float maximum = -FLT_MAX;
  const auto chunks = static_cast<int>(chunk_count(vocabulary));
  const auto size = [&](int c) {
    const std::int64_t left = vocabulary - std::int64_t{c} * chunk_size;
    return static_cast<int>(left < chunk_size ? left : chunk_size);
  };
  for (int c = 0; c < chunks; ++c) {
    const std::int64_t first = std::int64_t{c} * chunk_size;
    maxima[c] = load(logits + first, size(c), x);
    sums[c] = weigh(x, size(c), maxima[c], inverse, out + first);
    maximum = maxima[c] > maximum ? maxima[c] : maximum;
  }
  float sum = 0.0f;
  for (int c = 0; c < chunks; ++c) sum += sums[c] * portable_exp((maxima[c] - maximum) * inverse);
  for (int c = 0; c < chunks; ++c) {
    const float factor = portable_exp((maxima[c] - maximum) * inverse) / sum;
    float* p = out + std::int64_t{c} * chunk_size;
#pragma omp simd
    for (int i = 0; i < size(c); ++i) {
      const float scaled = p[i] * factor;
      p[i] = scaled >= FLT_MIN ? scaled : 0.0f;
    }
  }
}

}  // namespace

void softmax_with_float_sums(const Space& space, const Rows<float>& logits,
                             const Numbers<float>& temperature, const Rows<float>& probabilities) {
  if constexpr (runs_on_host) {
    Kokkos::parallel_for("tokkos::bench::float_sums",
                         Kokkos::RangePolicy<Space>(space, 0, static_cast<int>(logits.extent(0))),
                         [=](int row) {
                           softmax_row(&logits(row, 0), static_cast<std::int64_t>(logits.extent(1)),
                                       1.0f / temperature(row), &probabilities(row, 0));
                         });
  }
}

}  // namespace tokkos::bench
