// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/truncation.hpp>
#include <tokkos/engine/staging.hpp>
#include <tokkos/request/step_requests.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tokkos {

/// What a step's rows are drawn by, in the blob that is being staged: their temperatures and
/// uniforms, and the limits of truncation where a request has one.
template <class ExecutionSpace>
class StagedRows {
 public:
  using Blob = Staging<ExecutionSpace>;
  using Space = MemoryOf<ExecutionSpace>;

  /// Room for `rows` rows.
  static std::size_t room(std::int64_t rows) {
    return 5 * Blob::template room<float>(static_cast<std::size_t>(rows));
  }

  /// Adds the rows of a step that was validated to a blob that was begun with enough room.
  /// @param uniforms [rows], or empty where nothing is drawn
  StagedRows(Blob& blob, const StepRequests& requests, std::int64_t rows,
             std::span<const float> uniforms)
      : m_blob(&blob),
        m_temperature(add<float>(requests, rows, &GenerationConfig::temperature)),
        m_uniforms(blob.template add<float>(uniforms.size())),
        m_truncates(
            std::ranges::any_of(requests.generation_configs, &GenerationConfig::has_truncation)) {
    std::ranges::copy(uniforms, blob.host(m_uniforms).begin());
    if (!m_truncates) return;
    m_top_k = add<std::int32_t>(requests, rows, &GenerationConfig::top_k);
    m_top_p = add<float>(requests, rows, &GenerationConfig::top_p);
    m_min_p = add<float>(requests, rows, &GenerationConfig::min_p);
  }

  Vector<const float, Space> temperature() const { return m_blob->on_device(m_temperature); }
  Vector<const float, Space> uniforms() const { return m_blob->on_device(m_uniforms); }

  /// Whether any request limits what it is drawn from.
  bool truncates() const { return m_truncates; }
  Truncation<Space> truncation() const {
    return {m_blob->on_device(m_top_k), m_blob->on_device(m_top_p), m_blob->on_device(m_min_p)};
  }

 private:
  template <class T>
  using Slot = typename Blob::template Slot<T>;

  /// Each row's value of a field: that of its request.
  template <class T>
  Slot<T> add(const StepRequests& requests, std::int64_t rows, T GenerationConfig::*field) {
    const auto slot = m_blob->template add<T>(static_cast<std::size_t>(rows));
    const std::span<T> values = m_blob->host(slot);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto first = static_cast<std::size_t>(requests.first_row(i));
      const auto count = static_cast<std::size_t>(requests.end_row(i)) - first;
      std::ranges::fill(values.subspan(first, count), requests.generation_configs[i].*field);
    }
    return slot;
  }

  Blob* m_blob;
  Slot<float> m_temperature, m_uniforms;
  bool m_truncates;
  Slot<std::int32_t> m_top_k;
  Slot<float> m_top_p, m_min_p;
};

}  // namespace tokkos
