// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tokkos::test {

/// One row as the contract sees it.
struct ReferenceRow {
  std::span<const float> logits;          ///< [V] stored values
  std::span<const std::int32_t> bitmask;  ///< words; empty: no mask
  std::int64_t active = 0;                ///< active vocabulary
  float temperature = 1.0f;
};

/// Softmax of one row in double arithmetic, straight from its definition.
struct ReferenceSoftmax {
  std::int32_t status = 0;
  std::vector<double> probabilities;  ///< [V]; all 0 for an unusable row
  std::vector<double> z;              ///< [V] (x - M) / T; 0 where the token is forbidden
  double maximum = 0.0;               ///< M
  double entropy_sum = 0.0;           ///< E = sum of p |z|
  double log_sum_exp = 0.0;           ///< greedy: M
  std::int64_t argmax = -1;           ///< the lowest id of the maximum
  std::vector<std::int64_t> maxima;   ///< ids of all maxima

  /// Promised bound on |p - probabilities[v]|.
  double bound(std::int64_t v) const;
  /// Bound on a log-sum-exp's error that follows from the formula's roundings.
  double log_sum_exp_bound(float temperature) const;
};

bool is_allowed(const ReferenceRow& row, std::int64_t token);

ReferenceSoftmax reference_softmax(const ReferenceRow& row);

/// What a row of computed probabilities gets wrong; every count must be 0.
struct SoftmaxMistakes {
  std::int64_t not_zero = 0;      ///< forbidden, or the row is unusable, and p is not exactly +0
  std::int64_t out_of_bound = 0;  ///< farther from the reference than promised
  std::int64_t subnormal = 0;     ///< in (0, FLT_MIN), which is stored as 0
  double sum_error = 0.0;         ///< |sum p - 1| of a usable row
};

SoftmaxMistakes compare(const ReferenceRow& row, const ReferenceSoftmax& expected,
                        std::span<const float> probabilities);

/// How far u lies outside of [P(< token), P(<= token)) in exact arithmetic; 0 inside.
double distance_from_share(const ReferenceSoftmax& expected, std::int64_t token, float u);

}  // namespace tokkos::test
