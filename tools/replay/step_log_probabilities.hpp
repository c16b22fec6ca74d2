// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/truncation.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "tools/io/device_array.hpp"
#include "tools/replay/replay_step.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tokkos::tools {

/// The log-probabilities that the requests of a replayed step ask for, raw and processed ones
/// beside each other.
class StepLogProbabilities {
 public:
  using Space = Kokkos::DefaultExecutionSpace;
  using Memory = Space::memory_space;
  using Rows = LogitRows<float, Memory>;
  using Tokens = Vector<const TokenId, Memory>;

  explicit StepLogProbabilities(const ReplayRequests& requests);

  /// Whether a request asks for any at all, or for this kind.
  bool asked() const { return m_raw.asked || m_processed.asked; }
  bool asked(LogProbabilityKind kind) const { return of(kind).asked; }
  /// Largest number of most likely tokens that a request asks for.
  std::int32_t columns() const { return m_columns; }

  /// Computes one kind for every row that asks for it.
  /// @param measures of the rows
  /// @param tokens [n] that were drawn
  void compute(const Space& space, LogProbabilityKind kind, const Rows& rows,
               const RowMeasures<Memory>& measures, const Tokens& tokens,
               const RowCuts<Memory>& cuts);

  /// Writes each row's values of the kind that it asked for; -1 and -infinity elsewhere.
  void store(ReplayResult& result) const;

 private:
  /// One kind.
  struct Values {
    bool asked = false;
    DeviceArray<std::int32_t> counts;  ///< [n] most likely tokens wanted; 0: none of this kind
    DeviceArray<float> drawn;          ///< [n] of the token drawn, whether wanted or not
    Kokkos::View<float**, Kokkos::LayoutRight, Memory> top;
    Kokkos::View<TokenId**, Kokkos::LayoutRight, Memory> top_tokens;
  };

  const Values& of(LogProbabilityKind kind) const {
    return kind == LogProbabilityKind::raw ? m_raw : m_processed;
  }
  Values allocate(const ReplayRequests& requests, LogProbabilityKind kind) const;
  void store(const Values& values, LogProbabilityKind kind, ReplayResult& result) const;

  std::vector<LogProbabilityKind> m_kinds;  // of each row
  std::int32_t m_columns = 0;
  Values m_raw;
  Values m_processed;
};

}  // namespace tokkos::tools
