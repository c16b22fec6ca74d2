// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/truncation_reference.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>

namespace tokkos::test {

namespace {

__extension__ using int128 = __int128;

/// Smallest integer that is not below p * sum.
std::int64_t ceiling_of_product(float p, std::int64_t sum) {
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(p, &exponent), 24));
  const int shift = 24 - exponent;
  const int128 product = static_cast<int128>(mantissa) * sum;
  if (shift >= 126) return product > 0 ? 1 : 0;
  const int128 unit = static_cast<int128>(1) << shift;
  return static_cast<std::int64_t>((product + unit - 1) / unit);
}

}  // namespace

float reference_exp(float z) {
  if (!(z >= -0x1.5d589ep+6f)) return 0.0f;  // below it the exponential is less than FLT_MIN
  // n comes from a sum that rounds z log2(e) to an integer.
  const float n = std::fma(z, 0x1.715476p+0f, 0x1.8p23f) - 0x1.8p23f;
  const float r = std::fma(-n, 0x1.7f7d1cp-20f, std::fma(-n, 0x1.62e4p-1f, z));
  const float coefficients[] = {0x1.693f88p-10f, 0x1.12398ap-7f, 0x1.555a60p-5f, 0x1.555492p-3f,
                                0x1.fffff8p-2f};
  float sum = 0.0f;
  for (const float coefficient : coefficients) sum = std::fma(sum, r, coefficient);
  const float square = r * r;
  const float power = std::fma(square, sum, r) + 1.0f;
  return std::ldexp(power, static_cast<int>(n));
}

SortedRow::SortedRow(const ReferenceRow& row)
    : m_active(row.active), m_greedy(row.temperature <= 1e-5f) {
  for (std::int64_t v = 0; v < static_cast<std::int64_t>(row.logits.size()); ++v) {
    if (is_allowed(row, v)) m_tokens.push_back(v);
  }
  const auto logit = [&](std::int64_t v) { return row.logits[static_cast<std::size_t>(v)]; };
  std::stable_sort(m_tokens.begin(), m_tokens.end(),
                   [&](std::int64_t a, std::int64_t b) { return logit(a) > logit(b); });
  const float inverse = 1.0f / row.temperature;
  for (const std::int64_t v : m_tokens) {
    const float difference = logit(v) - logit(m_tokens.front());
    const float share = reference_exp(difference * inverse);
    m_logits.push_back(logit(v));
    m_shares.push_back(share);
    m_masses.push_back(std::llrint(std::ldexp(static_cast<double>(share), 44)));
  }
}

ReferenceCut SortedRow::cut(const ReferenceLimits& limits) const {
  const bool has_top_k = limits.top_k != 0 && limits.top_k < m_active;
  const bool has_top_p = limits.top_p != 1.0f;
  const bool has_min_p = limits.min_p != 0.0f;
  if (m_tokens.empty()) return {};
  if (m_greedy || !(has_top_k || has_top_p || has_min_p)) return {-1, -1, 0.0f, 0};
  std::int64_t kept = size();
  if (has_top_k) kept = std::min<std::int64_t>(kept, limits.top_k);
  if (has_top_p) {
    const std::int64_t all =
        std::accumulate(m_masses.begin(), m_masses.begin() + kept, std::int64_t{0});
    const std::int64_t wanted = ceiling_of_product(limits.top_p, all);
    std::int64_t prefix = 0;
    std::int64_t length = 0;
    while (length < kept && prefix < wanted) prefix += m_masses[static_cast<std::size_t>(length++)];
    kept = length;
  }
  if (has_min_p) {
    std::int64_t length = 0;
    while (length < kept && m_shares[static_cast<std::size_t>(length)] >= limits.min_p) ++length;
    kept = length;
  }
  kept = std::max<std::int64_t>(kept, 1);
  const auto last = static_cast<std::size_t>(kept - 1);
  return {kept, m_tokens[last], m_logits[last],
          std::accumulate(m_masses.begin(), m_masses.begin() + kept, std::int64_t{0})};
}

}  // namespace tokkos::test
