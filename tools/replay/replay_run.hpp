// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/truncation.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>
#include <tokkos/kernels/truncate.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "tools/io/device_array.hpp"
#include "tools/replay/raw_logits.hpp"
#include "tools/replay/replay_step.hpp"
#include "tools/replay/step_log_probabilities.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace tokkos::tools {

/// A recorded step on the device.
class ReplayRun {
 public:
  /// The input must outlive it.
  ReplayRun(const ReplayInput& input, const ReplayOptions& options);

  void run_once(StageSeconds& seconds);
  ReplayResult result() const;

 private:
  using Space = Kokkos::DefaultExecutionSpace;
  using Memory = Space::memory_space;
  template <class T>
  using DeviceMatrix = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;

  template <class Stage>
  void time(StageSeconds& seconds, const char* name, const Stage& stage) const {
    const Kokkos::Timer timer;
    stage();
    m_space.fence("tokkos::replay::stage");
    auto known = std::ranges::find(seconds, name, &StageSeconds::value_type::first);
    if (known == seconds.end()) known = seconds.insert(known, {name, {}});
    known->second.push_back(timer.seconds());
  }
  void load_logits(const ReplayOptions& options);
  void load_row_values();
  void draw(const RowMeasures<Memory>& measures, const RowCuts<Memory>& cuts);
  void find_log_probabilities(const RowMeasures<Memory>& measures, const RowCuts<Memory>& cuts);
  void write_truncated(const RowMeasures<Memory>& measures, const RowCuts<Memory>& cuts);

  const ReplayInput& m_input;
  bool m_with_probabilities;
  bool m_truncates;  // whether any row is truncated
  Space m_space;
  StepRequests m_step;
  LogitProcessor<Space> m_processor;
  Sampler<Space> m_sampler;
  Workspace<Memory> m_workspace;
  CutsWorkspace<Memory> m_cuts;
  StepLogProbabilities m_log_probabilities;
  std::optional<RawLogits> m_raw;
  std::vector<float> m_uniforms;
  DeviceMatrix<float> m_logits;
  DeviceMatrix<float> m_probabilities;
  std::optional<DeviceMatrix<float>> m_truncated_probabilities;
  DeviceMatrix<std::int32_t> m_bitmask;
  DeviceArray<std::int32_t> m_masked_rows;
  DeviceArray<float> m_temperatures;
  DeviceArray<std::int32_t> m_top_k;
  DeviceArray<float> m_top_p;
  DeviceArray<float> m_min_p;
  DeviceArray<float> m_device_uniforms;
  DeviceArray<TokenId> m_tokens;
  DeviceArray<std::int32_t> m_status;
  DeviceArray<float> m_log_sum_exp;
  LogitRows<float, Memory> m_rows;
};

}  // namespace tokkos::tools
