// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/softmax_reference.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace tokkos::test {

namespace {

constexpr float greedy_bound = 1e-5f;
constexpr double unit = 0x1p-24;

enum Status { nan_logit = 1, positive_infinity = 2, empty = 4, invalid_parameter = 128 };

std::int32_t status_of(const ReferenceRow& row) {
  std::int32_t status = 0;
  bool any = false;
  for (std::size_t v = 0; v < row.logits.size(); ++v) {
    if (!is_allowed(row, static_cast<std::int64_t>(v))) continue;
    any = true;
    if (std::isnan(row.logits[v])) status |= nan_logit;
    if (std::isinf(row.logits[v])) status |= positive_infinity;
  }
  if (!any) status |= empty;
  const bool legal = row.temperature >= 0.0f && row.temperature <= FLT_MAX;
  return legal ? status : status | invalid_parameter;
}

}  // namespace

bool is_allowed(const ReferenceRow& row, std::int64_t token) {
  if (token >= row.active) return false;
  const auto v = static_cast<std::size_t>(token);
  if (!row.bitmask.empty()) {
    const auto word = static_cast<std::uint32_t>(row.bitmask[v / 32]);
    if ((word >> (v % 32)) % 2 == 0) return false;
  }
  return !(row.logits[v] <= -FLT_MAX);  // -infinity too; NaN is allowed, and noticed
}

double ReferenceSoftmax::bound(std::int64_t v) const {
  const auto i = static_cast<std::size_t>(v);
  const double p = probabilities[i];
  const double relative = (3 * std::fabs(z[i]) + 3 * entropy_sum + 14) * unit;
  if (p < static_cast<double>(FLT_MIN)) return FLT_MIN;
  // A p just above FLT_MIN may be computed just below, and is 0 then.
  return p * (1 - relative) < static_cast<double>(FLT_MIN) ? p : p * relative;
}

double ReferenceSoftmax::log_sum_exp_bound(float temperature) const {
  if (temperature <= greedy_bound) return 0.0;
  // Two roundings of M r, the sum's relative error, that of the logarithm, the final rounding.
  const double scaled = std::fabs(maximum / static_cast<double>(temperature));
  const double logarithm = std::fabs(log_sum_exp - maximum / static_cast<double>(temperature));
  return (2.01 * scaled + 3 * entropy_sum + 14 + 2.2 * logarithm + std::fabs(log_sum_exp)) * unit;
}

ReferenceSoftmax reference_softmax(const ReferenceRow& row) {
  ReferenceSoftmax result;
  const std::size_t vocabulary = row.logits.size();
  result.status = status_of(row);
  result.probabilities.assign(vocabulary, 0.0);
  result.z.assign(vocabulary, 0.0);
  result.log_sum_exp = -HUGE_VAL;
  if (result.status != 0) return result;

  const bool greedy = row.temperature <= greedy_bound;
  const double temperature = row.temperature;
  std::vector<std::size_t> allowed;
  for (std::size_t v = 0; v < vocabulary; ++v) {
    if (is_allowed(row, static_cast<std::int64_t>(v))) allowed.push_back(v);
  }
  double maximum = -HUGE_VAL;
  for (const std::size_t v : allowed) maximum = std::max<double>(maximum, row.logits[v]);
  double sum = 0.0;
  for (const std::size_t v : allowed) {
    const double x = row.logits[v];
    if (x == maximum) result.maxima.push_back(static_cast<std::int64_t>(v));
    if (!greedy) result.z[v] = (x - maximum) / temperature;
    result.probabilities[v] = greedy ? (x == maximum ? 1.0 : 0.0) : std::exp(result.z[v]);
    sum += result.probabilities[v];
  }
  for (const std::size_t v : allowed) {
    result.probabilities[v] /= sum;
    result.entropy_sum += result.probabilities[v] * std::fabs(result.z[v]);
  }
  result.maximum = maximum;
  result.argmax = result.maxima.front();
  result.log_sum_exp = greedy ? maximum : maximum / temperature + std::log(sum);
  return result;
}

SoftmaxMistakes compare(const ReferenceRow& row, const ReferenceSoftmax& expected,
                        std::span<const float> probabilities) {
  SoftmaxMistakes mistakes;
  double sum = 0.0;
  for (std::size_t v = 0; v < probabilities.size(); ++v) {
    const double p = probabilities[v];
    sum += p;
    if (expected.status != 0 || !is_allowed(row, static_cast<std::int64_t>(v))) {
      mistakes.not_zero += p == 0.0 && !std::signbit(p) ? 0 : 1;
      continue;
    }
    const double error = std::fabs(p - expected.probabilities[v]);
    mistakes.out_of_bound += error <= expected.bound(static_cast<std::int64_t>(v)) ? 0 : 1;
    mistakes.subnormal += p != 0.0 && p < static_cast<double>(FLT_MIN) ? 1 : 0;
  }
  mistakes.sum_error = expected.status != 0 ? std::fabs(sum) : std::fabs(sum - 1.0);
  return mistakes;
}

double distance_from_share(const ReferenceSoftmax& expected, std::int64_t token, float u) {
  if (token < 0 || token >= static_cast<std::int64_t>(expected.probabilities.size()))
    return HUGE_VAL;
  double before = 0.0;
  for (std::int64_t v = 0; v < token; ++v)
    before += expected.probabilities[static_cast<std::size_t>(v)];
  const double after = before + expected.probabilities[static_cast<std::size_t>(token)];
  return std::max({0.0, before - u, u - after});
}

}  // namespace tokkos::test
