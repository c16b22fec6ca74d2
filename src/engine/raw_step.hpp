// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/owned_view.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tokkos {

/// What a step keeps of its logits from before their edits: the measures of each row, and the
/// logits that are edited. Made by the first step that asks for raw log-probabilities; its memory
/// grows with the edits and is kept.
template <class ExecutionSpace>
class RawStep {
 public:
  using Space = MemoryOf<ExecutionSpace>;

  RawStep(std::int64_t max_rows, std::int64_t vocabulary) : m_workspace(max_rows, vocabulary) {}

  RowMeasures<Space> measures(std::int64_t rows) const { return m_workspace.measures(rows); }

  /// Makes room for the logits of `edits` edits.
  void begin(std::size_t edits) {
    const std::size_t held = m_saved.get().size();
    if (edits > held) {
      m_saved = OwnedView<Logits>(Logits(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::logit_processor::edited_logits"),
          std::max(edits, 2 * held)));
    }
    m_edits = edits;
  }

  Vector<float, Space> edited_logits() const {
    return vector_of<float, Space>(m_saved.get().data(), m_edits);
  }

 private:
  using Logits = Kokkos::View<float*, Space>;
  Workspace<Space> m_workspace;
  OwnedView<Logits> m_saved;
  std::size_t m_edits = 0;
};

}  // namespace tokkos
