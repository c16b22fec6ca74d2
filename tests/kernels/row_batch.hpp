// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/kernels/argmax.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "kernels/logit_block.hpp"
#include "reference/softmax_reference.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tokkos::test {

/// A step's rows on the host.
struct RowBatch {
  std::int64_t vocabulary = 1;
  std::vector<float> logits;             ///< [m, V]
  std::vector<float> temperature{1.0f};  ///< [n] or [1]
  std::vector<std::int32_t> row_index;   ///< [n] or empty
  std::vector<std::int32_t> bitmask;     ///< [k, words] or empty
  std::int64_t words = 0;                ///< of a bitmask row
  std::vector<std::int32_t> mask_index;  ///< [n] or empty
  std::int64_t active = 0;               ///< 0: V

  std::int64_t rows() const {
    return row_index.empty() ? static_cast<std::int64_t>(logits.size()) / vocabulary
                             : static_cast<std::int64_t>(row_index.size());
  }

  /// Row i as the reference sees it; the logits must be stored values.
  ReferenceRow reference_row(std::int64_t i) const {
    const auto row = static_cast<std::size_t>(i);
    const auto logit_row = row_index.empty() ? i : row_index[row];
    ReferenceRow result;
    result.logits = std::span(logits).subspan(logit_row * vocabulary, vocabulary);
    result.active = active == 0 ? vocabulary : active;
    result.temperature = temperature[temperature.size() == 1 ? 0 : row];
    const auto mask_row = mask_index.empty() ? i : mask_index[row];
    if (!bitmask.empty() && mask_row >= 0) {
      result.bitmask = std::span(bitmask).subspan(mask_row * words, words);
    }
    return result;
  }
};

/// What the kernels say about a batch.
struct RowResults {
  std::vector<float> probabilities;  ///< [n, V]
  std::vector<std::int32_t> status;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> argmax;
  std::vector<float> log_sum_exp;
  std::vector<float> chunk_maximum;     ///< [n, chunks of the active vocabulary]
  std::vector<std::int64_t> chunk_sum;  ///< the same
  std::vector<float> row_maximum;
  std::vector<std::int64_t> row_mass;
  bool padding_is_untouched = true;
};

/// A batch in device memory, with padded rows, and room for every result.
template <class Backend>
class DeviceRows {
 public:
  using Space = typename Backend::execution_space;
  using Memory = typename Backend::memory_space;
  using Logit = typename Backend::logit;
  static constexpr std::int64_t padding = 5;
  static constexpr float canary = -77.5f;

  explicit DeviceRows(const RowBatch& batch)
      : m_batch(batch),
        m_block(batch.logits, batch.vocabulary, padding),
        m_temperature(on_device<Memory>(batch.temperature)),
        m_row_index(on_device<Memory>(batch.row_index)),
        m_words(on_device<Memory>(batch.bitmask, batch.words, 1, std::int32_t{-1})),
        m_mask_index(on_device<Memory>(batch.mask_index)),
        m_workspace(batch.rows() + 2, batch.vocabulary),
        m_probabilities("test::probabilities", batch.rows(), batch.vocabulary + padding),
        status("test::status", batch.rows()),
        measures(m_workspace.measures(batch.rows())) {
    rows.logits = m_block.logits();
    rows.temperature = m_temperature;
    rows.row_index = m_row_index;
    if (!batch.bitmask.empty()) {
      rows.bitmask.words = without_padding<const std::int32_t>(m_words, batch.words);
    }
    rows.bitmask.row_index = m_mask_index;
    rows.active_vocabulary = batch.active;
    Kokkos::deep_copy(m_probabilities, canary);
    probabilities = without_padding<float>(m_probabilities, batch.vocabulary);
  }

  const LogitBlock<Backend>& block() const { return m_block; }
  const Workspace<Memory>& workspace() const { return m_workspace; }

  void read_probabilities(RowResults& results) const {
    const auto all = on_host(m_probabilities);
    const std::int64_t stride = m_batch.vocabulary + padding;
    for (std::int64_t i = 0; i < m_batch.rows(); ++i) {
      const auto row = all.begin() + i * stride;
      results.probabilities.insert(results.probabilities.end(), row, row + m_batch.vocabulary);
      for (std::int64_t v = m_batch.vocabulary; v < stride; ++v) {
        results.padding_is_untouched &= row[v] == canary;
      }
    }
    results.padding_is_untouched &= m_block.padding_is_untouched();
  }

  void read_measures(RowResults& results) const {
    const std::int64_t chunks = chunk_count(m_batch.vocabulary);
    const std::int64_t used =
        chunk_count(m_batch.active == 0 ? m_batch.vocabulary : m_batch.active);
    const auto maxima = on_host(measures.chunk_maximum);
    const auto sums = on_host(measures.chunk_sum);
    for (std::int64_t i = 0; i < m_batch.rows(); ++i) {
      for (std::int64_t c = 0; c < used; ++c) {
        results.chunk_maximum.push_back(maxima[i * chunks + c]);
        results.chunk_sum.push_back(sums[i * chunks + c]);
      }
    }
    results.row_maximum = on_host(measures.row_maximum);
    results.row_mass = on_host(measures.row_mass);
    results.status = on_host(status);
  }

 private:
  RowBatch m_batch;
  LogitBlock<Backend> m_block;
  Kokkos::View<float*, Memory> m_temperature;
  Kokkos::View<std::int32_t*, Memory> m_row_index;
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> m_words;
  Kokkos::View<std::int32_t*, Memory> m_mask_index;
  Workspace<Memory> m_workspace;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> m_probabilities;

 public:
  LogitRows<Logit, Memory> rows;
  Kokkos::View<std::int32_t*, Memory> status;
  RowMeasures<Memory> measures;
  Matrix<float, Memory> probabilities;
};

/// Probabilities, pairs and status by the fused softmax.
template <class Backend>
RowResults softmax_of(const RowBatch& batch, const typename Backend::execution_space& space = {}) {
  const DeviceRows<Backend> device(batch);
  softmax(space, device.rows, device.measures, device.probabilities, device.status);
  space.fence("tokkos::test::softmax_of");
  RowResults results;
  device.read_probabilities(results);
  device.read_measures(results);
  return results;
}

/// The same by measure and normalize, and everything else that follows measure.
template <class Backend>
RowResults verbs_of(const RowBatch& batch, const std::vector<float>& uniforms,
                    const typename Backend::execution_space& space = {},
                    GreedyTies ties = GreedyTies::uniform) {
  using Memory = typename Backend::memory_space;
  const DeviceRows<Backend> device(batch);
  const auto u = on_device<Memory>(uniforms);
  const Kokkos::View<std::int32_t*, Memory> tokens("test::tokens", batch.rows());
  const Kokkos::View<std::int32_t*, Memory> largest("test::argmax", batch.rows());
  const Kokkos::View<float*, Memory> lse("test::log_sum_exp", batch.rows());
  Kokkos::deep_copy(tokens, -7);
  Kokkos::deep_copy(largest, -7);
  measure(space, device.rows, device.measures, device.status);
  draw(space, device.rows, device.measures, u, tokens, device.status, ties);
  argmax(space, device.rows, device.measures, largest);
  log_sum_exp(space, device.rows, device.measures, lse);
  normalize(space, device.rows, device.measures, device.probabilities);
  space.fence("tokkos::test::verbs_of");
  RowResults results;
  device.read_probabilities(results);
  device.read_measures(results);
  results.tokens = on_host(tokens);
  results.argmax = on_host(largest);
  results.log_sum_exp = on_host(lse);
  return results;
}

}  // namespace tokkos::test
