// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay_reference.hpp"

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tokkos::test {

namespace {

bool editable(float x) {
  return std::isfinite(x) && x > -FLT_MAX;
}

float saturated(float x) {
  if (std::isinf(x) || x == FLT_MAX || x == -FLT_MAX) return std::copysign(0x1.fffffcp127f, x);
  return x;
}

}  // namespace

std::vector<float> reference_edits(const ReplayRow& row) {
  std::vector<float> logits = row.logits;
  for (const auto& [token, bias] : row.bias) {
    float& x = logits[static_cast<std::size_t>(token)];
    if (!editable(x)) continue;
    x = std::isinf(bias) ? bias : (std::isinf(x + bias) ? saturated(x + bias) : x + bias);
  }
  if (row.policy != ReferencePolicy::seed) {
    logits =
        penalized_row(std::move(logits), {row.policy, row.presence, row.frequency, row.repetition},
                      row.prompt, row.output);
  }
  const bool neutral = row.policy != ReferencePolicy::seed ||
                       (row.presence == 0.0f && row.frequency == 0.0f && row.repetition == 1.0f);
  for (const auto& [token, count] : row.counts) {
    float& x = logits[static_cast<std::size_t>(token)];
    if (neutral || !editable(x)) continue;
    const float t = static_cast<float>(count) * row.frequency;
    const float u = row.presence + t;
    x = x - u;
    x = x < 0.0f ? x * row.repetition : x / row.repetition;
    if (std::isinf(x)) x = saturated(x);
  }
  for (std::size_t v = 0; v < logits.size() && !row.mask.empty(); ++v) {
    const bool exists = static_cast<std::int64_t>(v) < row.active_vocabulary;
    if (!exists || ((row.mask[v / 32] >> (v % 32)) & 1u) == 0) logits[v] = -FLT_MAX;
  }
  return logits;
}

ReferenceDistribution reference_distribution(const std::vector<float>& logits,
                                             std::int64_t active_vocabulary, float temperature) {
  ReferenceDistribution result;
  result.probabilities.assign(logits.size(), 0.0);
  const auto end = static_cast<std::size_t>(active_vocabulary);
  const bool greedy = temperature <= 1e-5f;
  double maximum = -INFINITY;
  for (std::size_t v = 0; v < end; ++v) {
    const float x = logits[v];
    if (std::isnan(x)) result.status |= 1;
    if (std::isinf(x) && x > 0) result.status |= 2;
    if (x > -FLT_MAX) maximum = std::fmax(maximum, static_cast<double>(x));
  }
  if (result.status == 0 && std::isinf(maximum)) result.status = 4;
  result.log_sum_exp = -INFINITY;
  if (result.status != 0) return result;
  double sum = 0.0;
  for (std::size_t v = 0; v < end; ++v) {
    if (!(logits[v] > -FLT_MAX)) continue;
    const double distance = static_cast<double>(logits[v]) - maximum;
    const double weight = greedy ? (distance == 0.0 ? 1.0 : 0.0)
                                 : std::exp(distance / static_cast<double>(temperature));
    result.probabilities[v] = weight;
    sum += weight;
  }
  for (double& p : result.probabilities) p /= sum;
  result.log_sum_exp =
      greedy ? maximum : maximum / static_cast<double>(temperature) + std::log(sum);
  return result;
}

bool is_drawn(const std::vector<double>& probabilities, std::int32_t token, double u,
              double slack) {
  double before = 0.0;
  for (std::int32_t v = 0; v < token; ++v) before += probabilities[static_cast<std::size_t>(v)];
  const double p = probabilities[static_cast<std::size_t>(token)];
  return p > 0.0 && before <= u + slack && u < before + p + slack;
}

float reference_philox(std::uint64_t key, std::uint32_t c0, std::uint32_t c1, std::uint32_t c2,
                       std::uint32_t c3) {
  std::uint64_t k0 = key & 0xffffffffu;
  std::uint64_t k1 = key >> 32;
  std::uint64_t x[4] = {c0, c1, c2, c3};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = x[0] * 0xD2511F53u;
    const std::uint64_t b = x[2] * 0xCD9E8D57u;
    const std::uint64_t y[4] = {(b >> 32) ^ x[1] ^ k0, b & 0xffffffffu, (a >> 32) ^ x[3] ^ k1,
                                a & 0xffffffffu};
    for (int i = 0; i < 4; ++i) x[i] = y[i];
    k0 = (k0 + 0x9E3779B9u) & 0xffffffffu;
    k1 = (k1 + 0xBB67AE85u) & 0xffffffffu;
  }
  return static_cast<float>(x[0] >> 8) / 16777216.0f;
}

std::uint32_t reference_fnv(const char* text) {
  std::uint32_t hash = 2166136261u;
  for (; *text != '\0'; ++text) {
    hash ^= static_cast<unsigned char>(*text);
    hash *= 16777619u;
  }
  return hash;
}

}  // namespace tokkos::test
