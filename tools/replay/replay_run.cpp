// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/replay_run.hpp"

#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>

#include <cstddef>
#include <string>

namespace tokkos::tools {

namespace {

/// Each row's value of a field: that of its request.
template <class T>
DeviceArray<T> row_values(const std::string& label, const ReplayRequests& requests,
                          T GenerationConfig::*field) {
  return to_device(label, requests.of_rows<T>([&](std::size_t request) {
    return requests.configs[request].*field;
  }));
}

}  // namespace

ReplayRun::ReplayRun(const ReplayInput& input, const ReplayOptions& options)
    : m_input(input),
      m_with_probabilities(options.probabilities),
      m_truncates(std::ranges::any_of(input.requests.configs, &GenerationConfig::has_truncation)),
      m_step(input.requests.step()),
      m_processor(m_space, input.logits.extent_int(0), input.logits.extent_int(1),
                  input.requests.active_vocabulary),
      m_sampler(m_space, input.logits.extent_int(0), input.logits.extent_int(1),
                input.requests.active_vocabulary),
      m_workspace(input.logits.extent_int(0), input.logits.extent_int(1)),
      m_cuts(input.logits.extent_int(0)),
      m_log_probabilities(input.requests) {
  const auto n = static_cast<std::int64_t>(input.logits.extent(0));
  validate(m_step, n, static_cast<std::int64_t>(input.logits.extent(1)));
  m_uniforms = input.uniforms.empty() ? step_uniforms(m_step, n) : input.uniforms;
  load_logits(options);
  load_row_values();
  m_rows.logits = m_logits;
  m_rows.temperature = m_temperatures;
  m_rows.active_vocabulary = input.requests.active_vocabulary;
}

void ReplayRun::load_logits(const ReplayOptions& options) {
  const auto allocate = [this](const std::string& label) {
    return DeviceMatrix<float>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing),
                               m_input.logits.extent(0), m_input.logits.extent(1));
  };
  if (m_log_probabilities.asked(LogProbabilityKind::raw)) m_raw.emplace(m_input);
  // Where host and device share memory a single run may have the recorded logits themselves.
  m_logits = options.repeat == 1 && !m_raw
                 ? DeviceMatrix<float>(Kokkos::create_mirror_view(Memory{}, m_input.logits))
                 : allocate("tokkos::replay::edited_logits");
  if (m_with_probabilities) m_probabilities = allocate("tokkos::replay::probabilities");
  if (options.truncated_probabilities) {
    m_truncated_probabilities = allocate("tokkos::replay::truncated_probabilities");
  }
}

void ReplayRun::load_row_values() {
  const std::size_t n = m_input.logits.extent(0);
  const ReplayRequests& requests = m_input.requests;
  if (m_input.bitmask.extent(0) > 0) {
    m_bitmask = Kokkos::create_mirror_view_and_copy(Memory{}, m_input.bitmask);
    m_masked_rows = to_device("tokkos::replay::masked_rows", requests.masked_rows());
  }
  m_temperatures =
      row_values("tokkos::replay::temperatures", requests, &GenerationConfig::temperature);
  m_top_k = row_values("tokkos::replay::top_k", requests, &GenerationConfig::top_k);
  m_top_p = row_values("tokkos::replay::top_p", requests, &GenerationConfig::top_p);
  m_min_p = row_values("tokkos::replay::min_p", requests, &GenerationConfig::min_p);
  m_device_uniforms = to_device("tokkos::replay::uniforms", m_uniforms);
  m_tokens = DeviceArray<TokenId>("tokkos::replay::tokens", n);
  m_status = DeviceArray<std::int32_t>("tokkos::replay::row_status", n);
  m_log_sum_exp = DeviceArray<float>("tokkos::replay::log_sum_exp", n);
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
  RowCuts<Memory> cuts;
  if (m_truncates) {
    cuts = m_cuts.cuts(m_rows.rows());
    time(seconds, "truncation", [&] {
      truncate(m_space, m_rows, measures, {m_top_k, m_top_p, m_min_p}, cuts, m_status);
    });
  }
  time(seconds, "sampling", [&] { draw(measures, cuts); });
  if (m_log_probabilities.asked()) {
    time(seconds, "log-probabilities", [&] { find_log_probabilities(measures, cuts); });
  }
  if (m_truncated_probabilities) {
    time(seconds, "truncated softmax", [&] { write_truncated(measures, cuts); });
  }
}

void ReplayRun::draw(const RowMeasures<Memory>& measures, const RowCuts<Memory>& cuts) {
  if (m_with_probabilities) {
    m_sampler.sample_from_logits(m_logits, m_step, m_tokens, m_uniforms, m_status);
    return;
  }
  const Kokkos::LayoutStride one_column(m_tokens.extent(0), 1, 1, 1);
  draw_tokens(m_space, m_rows, measures,
              Matrix<const float, Memory>(m_device_uniforms.data(), one_column),
              Matrix<TokenId, Memory>(m_tokens.data(), one_column), cuts, m_status);
}

void ReplayRun::find_log_probabilities(const RowMeasures<Memory>& measures,
                                       const RowCuts<Memory>& cuts) {
  if (m_raw) {
    m_log_probabilities.compute(m_space, LogProbabilityKind::raw, m_raw->rows(),
                                m_raw->measured(m_space), m_tokens, {});
  }
  if (m_log_probabilities.asked(LogProbabilityKind::processed)) {
    m_log_probabilities.compute(m_space, LogProbabilityKind::processed, m_rows, measures, m_tokens,
                                cuts);
  }
}

void ReplayRun::write_truncated(const RowMeasures<Memory>& measures, const RowCuts<Memory>& cuts) {
  const Matrix<float, Memory> probabilities(*m_truncated_probabilities);
  if (m_truncates) {
    normalize_truncated(m_space, m_rows, measures, cuts, probabilities);
  } else {
    normalize(m_space, m_rows, measures, probabilities);
  }
}

ReplayResult ReplayRun::result() const {
  ReplayResult result;
  const Kokkos::HostSpace host;
  if (m_with_probabilities) {
    result.logits = Kokkos::create_mirror_view_and_copy(host, m_logits);
    result.probabilities = Kokkos::create_mirror_view_and_copy(host, m_probabilities);
  }
  if (m_truncated_probabilities) {
    result.truncated_probabilities =
        Kokkos::create_mirror_view_and_copy(host, *m_truncated_probabilities);
  }
  result.tokens = Kokkos::create_mirror_view_and_copy(host, m_tokens);
  result.row_status = Kokkos::create_mirror_view_and_copy(host, m_status);
  result.log_sum_exp = Kokkos::create_mirror_view_and_copy(host, m_log_sum_exp);
  m_log_probabilities.store(result);
  return result;
}

}  // namespace tokkos::tools
