// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/ngram_model.hpp"
#include "tools/decode/statistics.hpp"
#include "tools/decode/step_batch.hpp"

#include <tokkos/batch/views.hpp>
#include <tokkos/engine/step_outputs.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::tools {

/// Rows of a vocabulary's length on the device: a model's logits, and what is made of them.
template <class ExecutionSpace>
class ModelRows {
 public:
  using memory_space = MemoryOf<ExecutionSpace>;

  ModelRows() = default;
  ModelRows(const ExecutionSpace& space, const std::string& label, std::int64_t rows,
            TokenId vocabulary)
      : m_rows(Kokkos::view_alloc(Kokkos::WithoutInitializing, space, label),
               static_cast<std::size_t>(rows), static_cast<std::size_t>(vocabulary)),
        m_host(Kokkos::create_mirror_view(m_rows)) {}

  Matrix<float, memory_space> first(std::size_t count) const {
    return Matrix<float, memory_space>(
        m_rows.data(), Kokkos::LayoutStride(count, m_rows.extent(1), m_rows.extent(1), 1));
  }

  /// The model's logits of the `count` rows that were chosen last. Host backends write the rows in
  /// place; a device gets them by one copy.
  Matrix<float, memory_space> score(const ExecutionSpace& space, const StepBatch& batch,
                                    const NgramModel& model, std::size_t count,
                                    Statistics& statistics) const {
    batch.score(model, m_host.data());
    if (static_cast<const void*>(m_host.data()) != static_cast<const void*>(m_rows.data())) {
      const auto chosen = std::pair<std::size_t, std::size_t>(0, count);
      Kokkos::deep_copy(space, Kokkos::subview(m_rows, chosen, Kokkos::ALL),
                        Kokkos::subview(m_host, chosen, Kokkos::ALL));
      space.fence("tokkos::decode::upload");
    }
    statistics.logits += static_cast<std::int64_t>(count) * model.vocabulary();
    return first(count);
  }

 private:
  using Rows = Kokkos::View<float**, Kokkos::LayoutRight, memory_space>;

  Rows m_rows;
  typename Rows::host_mirror_type m_host;
};

/// Asks a step for the distributions that its tokens are drawn from.
/// @param rows receive them; may be the logits themselves
template <class MemorySpace>
StepOutputs<MemorySpace> distributions_of(const StepBatch& batch,
                                          const Matrix<float, MemorySpace>& rows) {
  StepOutputs<MemorySpace> outputs;
  (batch.truncates() ? outputs.truncated_probabilities : outputs.probabilities) = rows;
  return outputs;
}

/// The first `count` elements on the host; waits for the device.
template <class ExecutionSpace, class View>
std::vector<typename View::non_const_value_type> to_host(const ExecutionSpace& space,
                                                         const View& view, std::size_t count) {
  std::vector<typename View::non_const_value_type> values(count);
  Kokkos::deep_copy(
      space,
      Kokkos::View<typename View::non_const_value_type*, Kokkos::HostSpace>(values.data(), count),
      Kokkos::subview(view, std::pair<std::size_t, std::size_t>(0, count)));
  space.fence("tokkos::decode::download");
  return values;
}

}  // namespace tokkos::tools
