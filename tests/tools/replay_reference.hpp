// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/penalty_policies.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tokkos::test {

/// One row of a replay, written down plainly.
struct ReplayRow {
  std::vector<float> logits;
  std::int64_t active_vocabulary = 0;
  std::vector<std::pair<std::int32_t, float>> bias;
  std::map<std::int32_t, int> counts;  ///< generated tokens and those of the path
  ReferencePolicy policy = ReferencePolicy::seed;
  std::vector<std::int32_t> prompt, output;  ///< what the other policies look at
  float presence = 0.0f;
  float frequency = 0.0f;
  float repetition = 1.0f;
  std::vector<std::uint32_t> mask;  ///< empty: none
  float temperature = 1.0f;
};

/// Bias, penalties, mask: float32 operations in the order of the contract.
std::vector<float> reference_edits(const ReplayRow& row);

struct ReferenceDistribution {
  std::vector<double> probabilities;
  double log_sum_exp = 0.0;
  std::int32_t status = 0;
};

/// Softmax of edited logits, in double.
ReferenceDistribution reference_distribution(const std::vector<float>& logits,
                                             std::int64_t active_vocabulary, float temperature);

/// Whether the token is the one that u selects, up to `slack` in the cumulative probability.
bool is_drawn(const std::vector<double>& probabilities, std::int32_t token, double u, double slack);

/// Word 0 of Philox4x32-10 as a uniform.
float reference_philox(std::uint64_t key, std::uint32_t c0, std::uint32_t c1, std::uint32_t c2,
                       std::uint32_t c3);

/// 32-bit FNV-1a.
std::uint32_t reference_fnv(const char* text);

}  // namespace tokkos::test
