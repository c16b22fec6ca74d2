// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/replay_step.hpp"

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "tools/io/device_array.hpp"

#include <algorithm>

namespace tokkos::tools {

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
template <class T>
using DeviceMatrix = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;

std::vector<float> row_temperatures(const ReplayRequests& requests) {
  std::vector<float> temperatures;
  for (std::size_t i = 0; i < requests.configs.size(); ++i) {
    const auto rows = requests.cum_num_token[i + 1] - requests.cum_num_token[i];
    temperatures.insert(temperatures.end(), static_cast<std::size_t>(rows),
                        requests.configs[i].temperature);
  }
  return temperatures;
}

/// A recorded step on the device.
class ReplayRun {
 public:
  ReplayRun(const ReplayInput& input, const ReplayOptions& options);

  void run_once(StageSeconds& seconds);
  ReplayResult result() const;

 private:
  template <class Stage>
  void time(StageSeconds& seconds, const char* name, const Stage& stage) const {
    const Kokkos::Timer timer;
    stage();
    m_space.fence("tokkos::replay::stage");
    auto known = std::ranges::find(seconds, name, &StageSeconds::value_type::first);
    if (known == seconds.end()) known = seconds.insert(known, {name, {}});
    known->second.push_back(timer.seconds());
  }
  void draw_tokens(const RowMeasures<Memory>& measures);

  const ReplayInput& m_input;
  bool m_with_probabilities;
  Space m_space;
  StepRequests m_step;
  LogitProcessor<Space> m_processor;
  Sampler<Space> m_sampler;
  Workspace<Memory> m_workspace;
  std::vector<float> m_uniforms;
  DeviceMatrix<float> m_logits;
  DeviceMatrix<float> m_probabilities;
  DeviceMatrix<std::int32_t> m_bitmask;
  DeviceArray<std::int32_t> m_masked_rows;
  DeviceArray<float> m_temperatures;
  DeviceArray<float> m_device_uniforms;
  DeviceArray<TokenId> m_tokens;
  DeviceArray<std::int32_t> m_status;
  DeviceArray<float> m_log_sum_exp;
  LogitRows<float, Memory> m_rows;
};

ReplayRun::ReplayRun(const ReplayInput& input, const ReplayOptions& options)
    : m_input(input),
      m_with_probabilities(options.probabilities),
      m_step(input.requests.step()),
      m_processor(m_space, input.logits.extent_int(0), input.logits.extent_int(1),
                  input.requests.active_vocabulary),
      m_sampler(m_space, input.logits.extent_int(0), input.logits.extent_int(1),
                input.requests.active_vocabulary),
      m_workspace(input.logits.extent_int(0), input.logits.extent_int(1)) {
  const auto n = input.logits.extent(0);
  const auto vocabulary = input.logits.extent(1);
  validate(m_step, static_cast<std::int64_t>(n), static_cast<std::int64_t>(vocabulary));
  m_uniforms =
      input.uniforms.empty() ? step_uniforms(m_step, static_cast<std::int64_t>(n)) : input.uniforms;
  // Where host and device share memory a single run may have the recorded logits themselves.
  m_logits = options.repeat == 1
                 ? DeviceMatrix<float>(Kokkos::create_mirror_view(Memory{}, input.logits))
                 : DeviceMatrix<float>(Kokkos::create_mirror(
                       Kokkos::view_alloc(Memory{}, Kokkos::WithoutInitializing), input.logits));
  if (m_with_probabilities) {
    m_probabilities = DeviceMatrix<float>(
        Kokkos::view_alloc("tokkos::replay::probabilities", Kokkos::WithoutInitializing), n,
        vocabulary);
  }
  if (input.bitmask.extent(0) > 0) {
    m_bitmask = Kokkos::create_mirror_view_and_copy(Memory{}, input.bitmask);
    m_masked_rows = to_device("tokkos::replay::masked_rows", input.requests.masked_rows());
  }
  m_temperatures = to_device("tokkos::replay::temperatures", row_temperatures(input.requests));
  m_device_uniforms = to_device("tokkos::replay::uniforms", m_uniforms);
  m_tokens = DeviceArray<TokenId>("tokkos::replay::tokens", n);
  m_status = DeviceArray<std::int32_t>("tokkos::replay::row_status", n);
  m_log_sum_exp = DeviceArray<float>("tokkos::replay::log_sum_exp", n);
  m_rows.logits = m_logits;
  m_rows.temperature = m_temperatures;
  m_rows.active_vocabulary = input.requests.active_vocabulary;
}

void ReplayRun::run_once(StageSeconds& seconds) {
  Kokkos::deep_copy(m_space, m_status, 0);
  Kokkos::deep_copy(m_space, m_logits, m_input.logits);
  m_space.fence("tokkos::replay::load");
  time(seconds, "edits", [&] { m_processor.inplace_update_logits(m_logits, m_step, m_status); });
  if (m_masked_rows.extent(0) > 0) {
    time(seconds, "mask", [&] {
      apply_bitmask_inplace(m_space, m_logits, m_masked_rows, m_bitmask,
                            {.active_vocabulary = m_input.requests.active_vocabulary});
    });
  }
  if (m_with_probabilities) {
    time(seconds, "softmax", [&] {
      m_processor.compute_probs_from_logits(m_logits, m_step, m_probabilities, m_status);
    });
  }
  const RowMeasures<Memory> measures = m_workspace.measures(m_rows.rows());
  time(seconds, "log_sum_exp", [&] {
    measure(m_space, m_rows, measures, m_status);
    log_sum_exp(m_space, m_rows, measures, m_log_sum_exp);
  });
  time(seconds, "sampling", [&] { draw_tokens(measures); });
}

void ReplayRun::draw_tokens(const RowMeasures<Memory>& measures) {
  if (m_with_probabilities) {
    m_sampler.sample_from_logits(m_logits, m_step, m_tokens, m_uniforms, m_status);
  } else {
    draw(m_space, m_rows, measures, m_device_uniforms, m_tokens, m_status);
  }
}

ReplayResult ReplayRun::result() const {
  ReplayResult result;
  const Kokkos::HostSpace host;
  if (m_with_probabilities) {
    result.logits = Kokkos::create_mirror_view_and_copy(host, m_logits);
    result.probabilities = Kokkos::create_mirror_view_and_copy(host, m_probabilities);
  }
  result.tokens = Kokkos::create_mirror_view_and_copy(host, m_tokens);
  result.row_status = Kokkos::create_mirror_view_and_copy(host, m_status);
  result.log_sum_exp = Kokkos::create_mirror_view_and_copy(host, m_log_sum_exp);
  return result;
}

}  // namespace

ReplayResult replay_step(const ReplayInput& input, const ReplayOptions& options,
                         StageSeconds& seconds, const std::function<void()>& after_each) {
  ReplayRun run(input, options);
  for (int i = 0; i < options.repeat; ++i) {
    run.run_once(seconds);
    if (after_each) after_each();
  }
  return run.result();
}

}  // namespace tokkos::tools
