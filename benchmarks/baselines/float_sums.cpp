// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "baselines/float_sums.hpp"

#include "baselines/float_sums_chunk.hpp"

#include <tokkos/numerics/ieee_arithmetic.hpp>

#include <cstddef>

namespace tokkos::bench {

namespace {

/// From so many bytes of output on, the library keeps weights in scratch and streams (softmax.cpp).
constexpr std::size_t large_output = std::size_t{16} << 20;

/// One row on one thread, as the library takes it: its chunks are measured and weighed one after
/// the other, and scaled when the row's sum is known.
template <class ExecutionSpace>
struct SoftmaxOfRow {
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  Rows<float> logits, probabilities;
  Numbers<float> temperature;
  bool streams;

  std::int64_t vocabulary() const { return static_cast<std::int64_t>(logits.extent(1)); }

  /// Bytes of scratch for a row's weights, or for its last chunk's.
  std::size_t scratch() const {
    const std::int64_t chunks = streams ? chunk_count(vocabulary()) : 1;
    return static_cast<std::size_t>(chunks) * chunk_size * sizeof(float) + 64;
  }

  int size_of(std::int64_t chunk) const {
    const std::int64_t left = vocabulary() - chunk * chunk_size;
    return static_cast<int>(left < 0 ? 0 : (left < chunk_size ? left : chunk_size));
  }

  void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const std::int64_t chunks = chunk_count(vocabulary());
    auto* const kept =
        static_cast<float*>(team.team_scratch(0).get_shmem_aligned(scratch() - 64, 64));
    const float inverse = 1.0f / temperature(row);
    float maxima[most_chunks], sums[most_chunks];
    float maximum = -FLT_MAX;
    for (std::int64_t c = 0; c < chunks; ++c) {
      const int size = size_of(c);
      const FloatChunk chunk{&logits(row, c * chunk_size), size, size_of(c + 1)};
      float* const out = &probabilities(row, c * chunk_size);
      float* const x = streams ? kept + c * chunk_size : kept;
      float* const e = streams || size < chunk_size ? x : out;
      sums[c] = chunk.weigh(x, e, inverse, maxima[c]);
      maximum = maxima[c] > maximum ? maxima[c] : maximum;
      for (int j = 0; !streams && size < chunk_size && j < size; ++j) out[j] = x[j];
    }
    float sum = 0.0f;
    for (std::int64_t c = 0; c < chunks; ++c) {
      sum += sums[c] * portable_exp((maxima[c] - maximum) * inverse);
    }
    for (std::int64_t c = 0; c < chunks; ++c) {
      const float factor = portable_exp((maxima[c] - maximum) * inverse) / sum;
      float* const out = &probabilities(row, c * chunk_size);
      if (streams) {
        stream_scaled(kept + c * chunk_size, out, factor, size_of(c));
      } else {
        scale(out, out, factor, size_of(c));
      }
    }
    if (streams) finish_streamed();
  }
};

}  // namespace

void softmax_with_float_sums(const Space& space, const Rows<float>& logits,
                             const Numbers<float>& temperature, const Rows<float>& probabilities) {
  if constexpr (runs_on_host) {
    const SoftmaxOfRow<Space> functor{logits, probabilities, temperature,
                                      probabilities.size() * sizeof(float) >= large_output};
    Kokkos::TeamPolicy<Space> policy(space, static_cast<int>(logits.extent(0)), 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(functor.scratch()));
    Kokkos::parallel_for("tokkos::bench::float_sums", policy, functor);
  }
}

}  // namespace tokkos::bench
