// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/step_log_probabilities.hpp"

#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace tokkos::tools {

StepLogProbabilities::StepLogProbabilities(const ReplayRequests& requests)
    : m_kinds(requests.of_rows<LogProbabilityKind>(
          [&](std::size_t i) { return requests.log_probabilities[i].kind; })) {
  for (const LogProbabilityRequest& wanted : requests.log_probabilities) {
    m_columns = std::max(m_columns, wanted.top);
  }
  m_raw = allocate(requests, LogProbabilityKind::raw);
  m_processed = allocate(requests, LogProbabilityKind::processed);
}

StepLogProbabilities::Values StepLogProbabilities::allocate(const ReplayRequests& requests,
                                                            LogProbabilityKind kind) const {
  Values values;
  const auto& wanted = requests.log_probabilities;
  values.asked = std::ranges::find(wanted, kind, &LogProbabilityRequest::kind) != wanted.end();
  if (!values.asked) return values;
  values.counts =
      to_device("tokkos::replay::top_counts", requests.of_rows<std::int32_t>([&](std::size_t i) {
        return wanted[i].kind == kind ? wanted[i].top : 0;
      }));
  const std::size_t n = m_kinds.size();
  const auto columns = static_cast<std::size_t>(m_columns);
  values.drawn = DeviceArray<float>("tokkos::replay::logprobs", n);
  values.top = decltype(values.top)("tokkos::replay::top_logprobs", n, columns);
  values.top_tokens = decltype(values.top_tokens)("tokkos::replay::top_tokens", n, columns);
  return values;
}

void StepLogProbabilities::compute(const Space& space, LogProbabilityKind kind, const Rows& rows,
                                   const RowMeasures<Memory>& measures, const Tokens& tokens,
                                   const RowCuts<Memory>& cuts) {
  const Values& values = of(kind);
  log_probabilities(space, rows, measures, tokens, Vector<float, Memory>(values.drawn), cuts);
  top_log_probabilities(space, rows, measures, values.top_tokens, values.top, cuts, values.counts);
}

void StepLogProbabilities::store(ReplayResult& result) const {
  if (!asked()) return;
  const std::size_t n = m_kinds.size();
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  auto& logprobs = result.logprobs.emplace("tokkos::replay::logprobs", n);
  Kokkos::deep_copy(logprobs, nothing);
  if (m_columns > 0) {
    const auto columns = static_cast<std::size_t>(m_columns);
    auto& top = result.top_logprobs.emplace("tokkos::replay::top_logprobs", n, columns);
    auto& top_tokens = result.top_tokens.emplace("tokkos::replay::top_tokens", n, columns);
    Kokkos::deep_copy(top, nothing);
    Kokkos::deep_copy(top_tokens, -1);
  }
  store(m_raw, LogProbabilityKind::raw, result);
  store(m_processed, LogProbabilityKind::processed, result);
}

void StepLogProbabilities::store(const Values& values, LogProbabilityKind kind,
                                 ReplayResult& result) const {
  if (!values.asked) return;
  const Kokkos::HostSpace host;
  const auto drawn = Kokkos::create_mirror_view_and_copy(host, values.drawn);
  const auto top = Kokkos::create_mirror_view_and_copy(host, values.top);
  const auto top_tokens = Kokkos::create_mirror_view_and_copy(host, values.top_tokens);
  for (std::size_t row = 0; row < m_kinds.size(); ++row) {
    if (m_kinds[row] != kind) continue;
    (*result.logprobs)(row) = drawn(row);
    for (std::size_t i = 0; i < top.extent(1); ++i) {
      (*result.top_logprobs)(row, i) = top(row, i);
      (*result.top_tokens)(row, i) = top_tokens(row, i);
    }
  }
}

}  // namespace tokkos::tools
