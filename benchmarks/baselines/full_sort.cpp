// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "baselines/full_sort.hpp"

#include <algorithm>
#include <cmath>

namespace tokkos::bench {

namespace {

std::int32_t kept_of(FullSort::Token* tokens, const float* logits, std::int64_t vocabulary,
                     float temperature, std::int32_t top_k, float top_p, float min_p) {
  for (std::int64_t v = 0; v < vocabulary; ++v) {
    tokens[v] = {logits[v], static_cast<std::int32_t>(v)};
  }
  std::sort(tokens, tokens + vocabulary, [](const auto& a, const auto& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  });
  const std::int64_t most = top_k == 0 ? vocabulary : std::min<std::int64_t>(top_k, vocabulary);
  const auto weight = [&](std::int64_t i) {
    return std::exp((tokens[i].logit - tokens[0].logit) / temperature);
  };
  float sum = 0.0f;
  for (std::int64_t i = 0; i < most; ++i) sum += weight(i);
  float prefix = 0.0f;
  std::int64_t kept = 0;
  while (kept < most && (kept == 0 || prefix < top_p * sum)) prefix += weight(kept++);
  while (kept > 1 && weight(kept - 1) < min_p) --kept;
  return static_cast<std::int32_t>(kept);
}

}  // namespace

FullSort::FullSort(std::int64_t rows, std::int64_t vocabulary)
    : m_tokens("tokkos::bench::sorted", rows, vocabulary), m_count("tokkos::bench::kept", rows) {}

void FullSort::truncate(const Space& space, const Rows<float>& logits,
                        const Numbers<float>& temperature, std::int32_t top_k, float top_p,
                        float min_p) const {
  if constexpr (runs_on_host) {
    const auto vocabulary = static_cast<std::int64_t>(logits.extent(1));
    const auto tokens = m_tokens;
    const auto count = m_count;
    Kokkos::parallel_for("tokkos::bench::full_sort",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
                             space, 0, static_cast<std::int64_t>(logits.extent(0))),
                         [=](const std::int64_t row) {
                           count(row) = kept_of(&tokens(row, 0), &logits(row, 0), vocabulary,
                                                temperature(row), top_k, top_p, min_p);
                         });
  }
}

}  // namespace tokkos::bench
