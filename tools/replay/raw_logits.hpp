// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "tools/io/device_array.hpp"
#include "tools/replay/replay_step.hpp"

#include <vector>

namespace tokkos::tools {

/// The logits of a step as they were recorded: without edits and mask, at temperature 1.
class RawLogits {
 public:
  using Space = Kokkos::DefaultExecutionSpace;
  using Memory = Space::memory_space;

  /// Refers to the input's logits where host and device share memory: they may not be written.
  explicit RawLogits(const ReplayInput& input)
      : m_workspace(input.logits.extent_int(0), input.logits.extent_int(1)),
        m_logits(Kokkos::create_mirror_view_and_copy(Memory{}, input.logits)),
        m_temperature(to_device("tokkos::replay::raw_temperature", std::vector<float>{1.0f})) {
    m_rows.logits = m_logits;
    m_rows.temperature = m_temperature;
    m_rows.active_vocabulary = input.requests.active_vocabulary;
  }

  const LogitRows<float, Memory>& rows() const { return m_rows; }

  /// Bad values are no concern of the step's status: its mask may forbid them.
  RowMeasures<Memory> measured(const Space& space) const {
    const auto measures = m_workspace.measures(m_rows.rows());
    measure(space, m_rows, measures);
    return measures;
  }

 private:
  Workspace<Memory> m_workspace;
  Kokkos::View<const float**, Kokkos::LayoutRight, Memory> m_logits;
  DeviceArray<float> m_temperature;
  LogitRows<float, Memory> m_rows;
};

}  // namespace tokkos::tools
