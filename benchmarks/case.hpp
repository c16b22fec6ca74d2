// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "inputs.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace tokkos::bench {

/// One step's rows with room for every result.
template <LogitType Logit>
struct Case {
  std::int64_t rows_count;
  std::int64_t vocabulary;
  Rows<Logit> logits;
  Numbers<float> temperature;
  Rows<std::int32_t> bitmask;  ///< empty: no mask
  Rows<float> probabilities;
  Numbers<TokenId> tokens;
  Numbers<float> uniforms;
  Numbers<float> log_sum_exp;
  Workspace<Memory> workspace;

  Case(std::int64_t n, std::int64_t v, float t = 0.8f, Values values = Values::normal)
      : rows_count(n),
        vocabulary(v),
        logits(make_logits<Logit>(n, v, values)),
        temperature(make_temperatures(n, t)),
        tokens("tokkos::bench::tokens", n),
        uniforms(make_uniforms(n)),
        log_sum_exp("tokkos::bench::log_sum_exp", n),
        workspace(n, v) {}

  /// Allocates the probabilities and touches them.
  void with_probabilities() {
    probabilities = Rows<float>("tokkos::bench::probabilities", rows_count, vocabulary);
  }

  LogitRows<Logit, Memory> step() const {
    LogitRows<Logit, Memory> step;
    step.logits = logits;
    step.temperature = temperature;
    if (bitmask.data() != nullptr) step.bitmask.words = bitmask;
    return step;
  }

  RowMeasures<Memory> measures() const { return workspace.measures(rows_count); }

  double elements() const {
    return static_cast<double>(rows_count) * static_cast<double>(vocabulary);
  }
};

/// Copies of a case that do not fit any cache together: each time the next one is used, so that
/// nothing of it is in a cache.
template <LogitType Logit>
class ColdCases {
 public:
  /// Enough copies for 512 MB, of which each use touches `bytes`.
  ColdCases(Case<Logit> first, double bytes) {
    m_cases.push_back(std::move(first));
    while (bytes * static_cast<double>(m_cases.size()) < 512e6) {
      m_cases.emplace_back(m_cases[0].rows_count, m_cases[0].vocabulary);
      if (m_cases[0].probabilities.data() != nullptr) m_cases.back().with_probabilities();
    }
  }

  const Case<Logit>& current() const { return m_cases[m_at]; }
  void next() { m_at = (m_at + 1) % m_cases.size(); }

 private:
  std::vector<Case<Logit>> m_cases;
  std::size_t m_at = 0;
};

/// An instance with one thread, where the execution space takes a number of threads.
template <class ExecutionSpace = Space>
ExecutionSpace one_thread() {
  if constexpr (std::is_constructible_v<ExecutionSpace, int>) {
    return ExecutionSpace(1);
  } else {
    return ExecutionSpace();
  }
}

}  // namespace tokkos::bench
