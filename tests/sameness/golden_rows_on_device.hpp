// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "kernels/logit_block.hpp"
#include "sameness/golden_batches.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tokkos::test {

/// One case in device memory, rows padded, with room for what is measured and written.
template <class Space, class Logit>
class GoldenRowsOnDevice {
 public:
  using Memory = MemoryOf<Space>;

  GoldenRowsOnDevice(const Space& on, const GoldenBatch& of)
      : space(on),
        batch(of),
        m_workspace(of.rows, of.vocabulary),
        m_temperature(on_device<Memory>(std::vector<float>{of.temperature})),
        m_words(on_device<Memory>(of.bitmask, of.words, 1, std::int32_t{-1})),
        m_mask_index(on_device<Memory>(of.mask_index)),
        measures(m_workspace.measures(of.rows)),
        status("test::status", of.rows),
        stored_probabilities("test::probabilities", of.rows, of.vocabulary + padding) {
    rows.temperature = m_temperature;
    rows.active_vocabulary = of.active;
    if (!of.bitmask.empty()) {
      rows.bitmask.words = without_padding<const std::int32_t>(m_words, of.words);
      rows.bitmask.row_index = m_mask_index;
    }
    store_logits();
  }

  void store_logits() {
    logits = on_device<Memory>(cut_off<Logit>(batch.logits), batch.vocabulary, padding,
                               cut_off<Logit>(0u));
    rows.logits = without_padding<const Logit>(logits, batch.vocabulary);
  }

  /// "output/float32/4097/T1/half"
  std::string name(const char* output) const {
    return std::string(output) + "/" + type_name<Logit>() + "/" + batch.name;
  }

  Matrix<float, Memory> probabilities() const {
    return without_padding<float>(stored_probabilities, batch.vocabulary);
  }

  /// A matrix's values without its padding, after all kernels.
  template <class View>
  auto values_of(const View& matrix, std::int64_t columns) const {
    space.fence("tokkos::test::golden");
    const auto all = on_host(matrix);
    const std::int64_t stride = static_cast<std::int64_t>(matrix.extent(1));
    std::vector<typename View::non_const_value_type> values;
    values.reserve(static_cast<std::size_t>(batch.rows * columns));
    for (std::int64_t i = 0; i < batch.rows; ++i) {
      values.insert(values.end(), all.begin() + i * stride, all.begin() + i * stride + columns);
    }
    return values;
  }

  Space space;
  const GoldenBatch& batch;

 private:
  static constexpr std::int64_t padding = 3;

  Workspace<Memory> m_workspace;
  Kokkos::View<float*, Memory> m_temperature;
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> m_words;
  Kokkos::View<std::int32_t*, Memory> m_mask_index;

 public:
  LogitRows<Logit, Memory> rows;
  RowMeasures<Memory> measures;
  Kokkos::View<std::int32_t*, Memory> status;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> stored_probabilities;
  Kokkos::View<Logit**, Kokkos::LayoutRight, Memory> logits;
};

}  // namespace tokkos::test
