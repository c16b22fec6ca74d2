// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/truncation.hpp>
#include <tokkos/numerics/portable_exp.hpp>

#include "kernels/row_batch.hpp"
#include "reference/log_probability_reference.hpp"
#include "reference/random_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tokkos::test {

/// What truncation keeps of a row, in the contract's integers: taken by sorting.
struct KeptRow {
  float logit = -77.5f;  // says nothing while count is -1
  std::int32_t token = -77;
  std::int64_t mass = -77;
  std::int32_t count = -1;
  std::vector<std::int64_t> masses;  ///< [V] RNE(exp((x - M) / T) * 2^44); 0 where cut

  /// The first `count` tokens of the row; -1: not truncated, 0: unusable (and what else the cut
  /// says, that of one token, must not be used).
  static KeptRow first(const ReferenceRow& row, std::int64_t count) {
    KeptRow kept;
    auto tokens = ordered_tokens(row);
    if (count < 0 || tokens.empty()) return kept;
    const float maximum = row.logits[static_cast<std::size_t>(tokens.front())];
    const float inverse = 1.0f / row.temperature;
    tokens.resize(
        std::min(tokens.size(), static_cast<std::size_t>(std::max(count, std::int64_t{1}))));
    kept.count = count == 0 ? 0 : static_cast<std::int32_t>(tokens.size());
    kept.token = static_cast<std::int32_t>(tokens.back());
    kept.logit = row.logits[static_cast<std::size_t>(tokens.back())];
    kept.masses.assign(row.logits.size(), 0);
    kept.mass = 0;
    for (const auto v : tokens) {
      const float x = row.logits[static_cast<std::size_t>(v)];
      // The contract's float32 exponential; its scaling by 2^44 is exact in double.
      const double q = portable_exp((x - maximum) * inverse);
      kept.masses[static_cast<std::size_t>(v)] = std::llrint(std::ldexp(q, 44));
      kept.mass += kept.masses[static_cast<std::size_t>(v)];
    }
    return kept;
  }

  /// The first token whose inclusive prefix exceeds floor(u * mass), in exact arithmetic.
  std::int32_t drawn(float u) const {
    __extension__ using Wide = unsigned __int128;
    int exponent = 0;
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(u, &exponent), 24));
    const int shift = 24 - exponent;
    const Wide product = static_cast<Wide>(mantissa) * static_cast<std::uint64_t>(mass);
    const auto target = static_cast<std::int64_t>(shift < 128 ? product >> shift : 0);
    std::int64_t prefix = 0;
    for (std::size_t v = 0; v < masses.size(); ++v) {
      prefix += masses[v];
      if (prefix > target) return static_cast<std::int32_t>(v);
    }
    return -1;
  }

  /// Around the end of the first tokens' intervals: the last uniform of the grid of 2^-24 in each,
  /// and the one behind it.
  std::vector<float> edges(std::size_t most = 20) const {
    std::vector<float> uniforms;
    std::int64_t prefix = 0;
    for (const auto a : masses) {
      prefix += a;
      if (a == 0 || prefix >= mass || uniforms.size() >= 2 * most) continue;
      const double share = static_cast<double>(prefix) / static_cast<double>(mass);
      const double at = std::floor(share * 0x1p24);
      uniforms.push_back(static_cast<float>(at * 0x1p-24));
      uniforms.push_back(static_cast<float>(std::min(at + 1, 0x1p24 - 1) * 0x1p-24));
    }
    return uniforms;
  }
};

/// The first counts[i] tokens of row i, of every row.
inline std::vector<KeptRow> keep_first(const RowBatch& batch,
                                       const std::vector<std::int64_t>& counts) {
  std::vector<KeptRow> kept;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    kept.push_back(KeptRow::first(batch.reference_row(static_cast<std::int64_t>(i)), counts[i]));
  }
  return kept;
}

/// Cuts in device memory.
template <class MemorySpace>
class DeviceCuts {
 public:
  explicit DeviceCuts(const std::vector<KeptRow>& rows)
      : m_logit(column<float>(rows, &KeptRow::logit)),
        m_token(column<std::int32_t>(rows, &KeptRow::token)),
        m_mass(column<std::int64_t>(rows, &KeptRow::mass)),
        m_count(column<std::int32_t>(rows, &KeptRow::count)) {}

  RowCuts<MemorySpace> cuts() const { return {m_logit, m_token, m_mass, m_count}; }

 private:
  template <class T>
  static Kokkos::View<T*, MemorySpace> column(const std::vector<KeptRow>& rows,
                                              T KeptRow::*member) {
    std::vector<T> values;
    for (const auto& row : rows) values.push_back(row.*member);
    return on_device<MemorySpace>(values);
  }

  Kokkos::View<float*, MemorySpace> m_logit;
  Kokkos::View<std::int32_t*, MemorySpace> m_token;
  Kokkos::View<std::int64_t*, MemorySpace> m_mass;
  Kokkos::View<std::int32_t*, MemorySpace> m_count;
};

/// Rows of every kind: random, masked, peaked, with many ties, each at its own temperature.
template <LogitType Logit>
RowBatch rows_to_truncate(std::int64_t vocabulary, bool masked, std::uint64_t seed = 91) {
  RandomValues random(seed + static_cast<std::uint64_t>(vocabulary));
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.temperature = {1.0f, 0.3f, 1000.0f, 0.7f, 1.1e-5f};
  batch.logits = random.logits(5 * vocabulary);
  for (std::int64_t v = 0; v < vocabulary; ++v) {
    float& tied = batch.logits[static_cast<std::size_t>(3 * vocabulary + v)];
    tied = std::round(tied / 2) * 2;  // -0 is among them
  }
  batch.logits = stored_values<Logit>(batch.logits);
  if (masked) {
    batch.words = (vocabulary + 31) / 32;
    batch.bitmask = random.words(5 * batch.words, 3);
    batch.mask_index = {0, 1, -1, 3, 4};
    for (std::int64_t i = 0; i < 5; ++i) batch.bitmask[i * batch.words] |= 1;
    batch.active = (vocabulary + 1) / 2;
  }
  return batch;
}

/// The orders in which tests list five rows.
inline const std::vector<std::vector<std::int32_t>> row_orders{{2}, {1}, {4, 0, 2, 2, 1, 3, 0}};

/// The listed rows of a batch, found by their indices.
inline RowBatch rows_listed(RowBatch batch, const std::vector<std::int32_t>& order) {
  const auto temperature = batch.temperature;
  const auto mask_index = batch.mask_index;
  batch.row_index = order;
  batch.temperature.clear();
  batch.mask_index.clear();
  for (const auto i : order) {
    batch.temperature.push_back(temperature[i]);
    if (!mask_index.empty()) batch.mask_index.push_back(mask_index[i]);
  }
  return batch;
}

/// Blocks of `width` values, one per listed row.
template <class T>
std::vector<T> rows_listed(const std::vector<T>& values, const std::vector<std::int32_t>& order,
                           std::size_t width = 1) {
  std::vector<T> result;
  for (const auto i : order) {
    const auto begin = values.begin() + i * static_cast<std::int64_t>(width);
    result.insert(result.end(), begin, begin + static_cast<std::int64_t>(width));
  }
  return result;
}

}  // namespace tokkos::test
