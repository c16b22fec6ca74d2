// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/log_probability_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tokkos::test {

std::vector<std::int64_t> ordered_tokens(const ReferenceRow& row) {
  std::vector<std::int64_t> tokens;
  for (std::int64_t v = 0; v < row.active; ++v) {
    if (is_allowed(row, v)) tokens.push_back(v);
  }
  // Ids ascend, and a stable sort keeps them so among equal logits.
  std::stable_sort(tokens.begin(), tokens.end(), [&row](std::int64_t a, std::int64_t b) {
    return row.logits[static_cast<std::size_t>(a)] > row.logits[static_cast<std::size_t>(b)];
  });
  return tokens;
}

ReferenceLogProbabilities reference_log_probabilities(const ReferenceRow& row, std::int64_t kept) {
  const auto vocabulary = row.logits.size();
  ReferenceLogProbabilities result;
  result.values.assign(vocabulary, -HUGE_VAL);
  result.bounds.assign(vocabulary, 0.0);
  const auto softmax = reference_softmax(row);
  if (softmax.status != 0 || kept == 0) return result;

  const bool greedy = row.temperature <= 1e-5f;
  auto tokens = ordered_tokens(row);
  if (greedy) {
    tokens.resize(softmax.maxima.size());
  } else if (kept > 0) {
    tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(kept)));
  }
  const auto z = [&](std::int64_t v) {
    const double x = row.logits[static_cast<std::size_t>(v)];
    return greedy ? 0.0 : (x - softmax.maximum) / static_cast<double>(row.temperature);
  };
  double sum = 0.0;
  double weighted = 0.0;
  for (const auto v : tokens) {
    sum += std::exp(z(v));
    weighted += std::exp(z(v)) * std::fabs(z(v));
  }
  const double logarithm = std::log(sum);
  for (const auto v : tokens) {
    const double value = z(v) - logarithm;
    result.values[static_cast<std::size_t>(v)] = value;
    result.bounds[static_cast<std::size_t>(v)] =
        (3.01 * std::fabs(z(v)) + 3 * weighted / sum + 14 + 2.2 * logarithm + std::fabs(value)) *
        0x1p-24;
  }
  return result;
}

bool is_close(const ReferenceLogProbabilities& expected, std::int64_t token, float value) {
  const auto v = static_cast<std::size_t>(token);
  if (std::isinf(expected.values[v])) return static_cast<double>(value) == expected.values[v];
  return std::fabs(static_cast<double>(value) - expected.values[v]) <= expected.bounds[v];
}

}  // namespace tokkos::test
