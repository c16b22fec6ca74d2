// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/numerics/wide_product.hpp>

#include "kernels/order_selection.hpp"
#include "kernels/row_tokens.hpp"
#include "numerics/wrapping_sum.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// Which tokens hold the end of a share, and the mass that is wanted from the row's first token on.
struct FoundShare {
  OrderRange range;
  std::int64_t before;  ///< mass of the tokens before the range
  std::int64_t target;
  std::int64_t largest_target;  ///< above `target` if the row's mass is known nearly
};

/// The first tokens, down to the key `lowest`, and what is wanted of them by way of `about`, the
/// row's mass as `measure` found it: then the lighter tokens are not weighed again.
///
/// `about` is nearer to the mass than a part in 2^17: it and the masses err by less than (6 E + 9)
/// 2^-24, where E, the mean of (maximum - x) / T, is at most the logarithm of 2^19. (Unless the
/// temperature is so high that a difference of logits overflows where there still is a mass.)
KOKKOS_INLINE_FUNCTION FoundShare nearly_found(std::int64_t about, float top_p,
                                               std::uint32_t lowest, std::uint32_t highest) {
  const std::int64_t error = about >> 16;
  return {OrderRange::of_keys(lowest, highest), 0, ceil_of_share(top_p, about - error),
          ceil_of_share(top_p, about + error)};
}

/// Logits of some of a row's allowed tokens.
struct TokenSample {
  float* logits = nullptr;
  std::int64_t count = 0;
  double step = 1.0;  ///< tokens of the row for each of the sample

  /// `room` is the team's scratch for a token in sample_step.
  template <class Row>
  KOKKOS_FUNCTION static TokenSample of(const Row& row, float* room) {
    TokenSample sample{room, 0, static_cast<double>(row.sample_step())};
    if (row.is_sampled()) row.visit_sample([&](float x) { room[sample.count++] = x; });
    return sample;
  }

  KOKKOS_FUNCTION float smallest(float otherwise) const {
    float x = otherwise;
    for (std::int64_t i = 0; i < count; ++i) x = logits[i] < x ? logits[i] : x;
    return x;
  }

  /// About how many tokens of the row are at least x.
  KOKKOS_FUNCTION double tokens_from(float x) const {
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < count; ++i) found += logits[i] >= x ? 1 : 0;
    return static_cast<double>(found) * step;
  }
};

/// A key that the end of a share probably does not lie below.
struct LikelyLowest {
  std::uint32_t key;
  double tokens;  ///< about so many are above it
};

/// Writes the shares of `width` logits, 0 for those below `lightest`; returns the sum of their
/// masses.
template <int width>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t weigh_block(const float* KOKKOS_RESTRICT x, float lightest,
                                                     float maximum, float inverse,
                                                     float* KOKKOS_RESTRICT shares) {
  std::uint64_t sum = 0;
  // hot loop
#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < width; ++j) {
    const float weighed = x[j] >= lightest ? x[j] : negative_infinity;
    const float share = portable_exp((weighed - maximum) * inverse);
    shares[j] = share;
    sum += grid_bits(share);
  }
  return static_cast<std::int64_t>(sum - width * grid_bias);
}

/// Bucket of a logit. The product may be infinite, and where the logits are no longer those that
/// were measured it may be anything.
KOKKOS_FORCEINLINE_FUNCTION int share_bucket(float x, float maximum, float per_logit) {
  const float place = (maximum - x) * per_logit;
  constexpr float last = bucket_count - 1;
  const float from_first = place > 0.0f ? place : 0.0f;
  return static_cast<int>(from_first < last ? from_first : last);
}

template <int width>
KOKKOS_FORCEINLINE_FUNCTION void place_block(const float* KOKKOS_RESTRICT x, float maximum,
                                             float per_logit, int* KOKKOS_RESTRICT places) {
  // hot loop
#pragma omp simd
  for (int j = 0; j < width; ++j) places[j] = share_bucket(x[j], maximum, per_logit);
}

/// The first step of top-p: masses in buckets of equal width on the scale of the logits, where most
/// rows spread better than on that of their bits.
template <class ExecutionSpace>
struct ShareBuckets {
  Buckets<ExecutionSpace> buckets;
  TokenWeight weight;
  float per_logit;  ///< buckets to a difference of 1

  /// Buckets for the tokens that have a mass: none is 32 T below the maximum. They are narrower if
  /// the row, by its smallest logits, lies close together.
  KOKKOS_FUNCTION static ShareBuckets of(const Buckets<ExecutionSpace>& buckets,
                                         const TokenWeight& weight, float smallest) {
    constexpr float last = bucket_count - 1;
    const float per_logit = weight.inverse_temperature * (bucket_count / 32);
    const float fitting = last / (weight.maximum - smallest);
    return {buckets, weight, fitting > per_logit && fitting <= 0x1p64f ? fitting : per_logit};
  }

  KOKKOS_FORCEINLINE_FUNCTION int bucket(float x) const {
    return share_bucket(x, weight.maximum, per_logit);
  }

  /// Adds up the row's mass and returns it. Tokens below `lowest` may be left out of the buckets.
  template <class Team, class Row>
  KOKKOS_FUNCTION std::int64_t fill(const Team& team, const Row& row, float lowest) const {
    const float lightest = logit_of_key(lightest_key());
    buckets.clear(team);
    std::int64_t total = 0;
    row.for_blocks(team, lightest, [&](const float* x, std::int64_t) {
      constexpr int width = Row::width;
      float shares[width];
      total = wrapping_sum(total, weigh_block<width>(x, lightest, weight.maximum,
                                                     weight.inverse_temperature, shares));
      if (Row::count_from(x, lowest) > width / 4) {
        int places[width];
        std::int64_t masses[width];
        place_block<width>(x, weight.maximum, per_logit, places);
        for (int j = 0; j < width; ++j) masses[j] = to_grid(shares[j]);
        for (int j = 0; j < width; ++j) buckets.add(places[j], masses[j]);
      } else {
        Row::for_each_within(x, lowest, weight.maximum,
                             [&](int j) { buckets.add(bucket(x[j]), to_grid(shares[j])); });
      }
    });
    team.team_reduce(Kokkos::Sum<std::int64_t>(total));
    return total;
  }

  /// The bucket in which ceil(top_p * mass of the row) is reached, by way of the exact mass. The
  /// tokens from `lowest` on are tried first.
  template <class Team, class Row>
  KOKKOS_FUNCTION FoundShare find(const Team& team, const Row& row, float top_p,
                                  std::uint32_t lowest) const {
    for (;;) {
      const float x = logit_of_key(lowest);
      const std::int64_t target = ceil_of_share(top_p, fill(team, row, x));
      const Crossing found = buckets.reach(team, bucket_count, target);
      // The buckets up to that of the lowest logit are complete.
      if (found.index >= 0 && found.index <= bucket(x)) {
        return {range_of(static_cast<int>(found.index)), found.before, target, target};
      }
      if (lowest == lowest_allowed_key()) {  // the logits are no longer those that were measured
        return {OrderRange::of_keys(lowest, logit_key(weight.maximum)), 0, target, target};
      }
      lowest = lowest_allowed_key();
    }
  }

  /// A key that, by a sample, the share does not end below: the tokens below it weigh less than
  /// what is left out, with three standard deviations to spare, and at least four tokens of the
  /// sample are above it.
  template <class Team>
  KOKKOS_FUNCTION LikelyLowest likely_lowest(const Team& team, const TokenSample& sample,
                                             std::int64_t about, float top_p) const {
    buckets.clear(team);
    for (std::int64_t i = 0; i < sample.count; ++i) {
      buckets.add(bucket(sample.logits[i]), weight.mass(sample.logits[i]));
    }
    const double most =
        (1.0 - static_cast<double>(top_p)) * static_cast<double>(about) / sample.step;
    // Masses of tokens in neighbouring buckets have this ratio.
    const double ratio = Kokkos::exp(static_cast<double>(weight.inverse_temperature / per_logit));
    double tokens = 0.0;
    double mass = grid_one;
    int enough = 0;
    for (; enough < bucket_count - 1 && tokens < 4.0; ++enough, mass /= ratio) {
      tokens += static_cast<double>(buckets.sums[enough]) / mass;
    }
    mass = static_cast<double>(grid_one) * Kokkos::pow(ratio, 1.0 - bucket_count);
    double sum = 0.0, variance = 0.0;
    int index = bucket_count - 1;
    for (; index > enough; --index, mass *= ratio) {
      const auto here = static_cast<double>(buckets.sums[index]);
      sum += here;
      variance += here * mass;
      if (sum > most || 9.0 * variance > (most - sum) * (most - sum)) break;
    }
    const std::uint32_t key = Kokkos::max(key_up_to(index), lightest_key());
    return {key, sample.tokens_from(logit_of_key(key))};
  }

 private:
  /// The smallest key of a token that has a mass.
  KOKKOS_FUNCTION std::uint32_t lightest_key() const {
    return smallest_key(logit_key(weight.maximum), [&](float x) { return weight.mass(x) > 0; });
  }

  /// The smallest key in the buckets up to `last`.
  KOKKOS_FUNCTION std::uint32_t key_up_to(int last) const {
    return smallest_key(logit_key(weight.maximum), [&](float x) { return bucket(x) <= last; });
  }

  KOKKOS_FUNCTION OrderRange range_of(int index) const {
    const std::uint32_t highest = index == 0 ? logit_key(weight.maximum) : key_up_to(index - 1) - 1;
    return OrderRange::of_keys(key_up_to(index), highest);
  }
};

}  // namespace tokkos
