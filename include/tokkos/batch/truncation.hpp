// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// How much of each row's distribution a step may draw from: each empty (off for every row), [1]
/// (for all rows) or [n]. Applied in this order, each to what the one before it kept. At least one
/// token stays, and greedy rows ignore all three.
template <class MemorySpace>
struct Truncation {
  /// Number of tokens kept, >= 0; 0, or the active vocabulary and above: off. A negative one:
  /// RowStatus::invalid_parameter.
  Vector<const std::int32_t, MemorySpace> top_k = {};
  /// Share of the mass kept, in (0, 1]; 1: off. Others and NaN: RowStatus::invalid_parameter.
  Vector<const float, MemorySpace> top_p = {};
  /// Smallest kept exp((x - maximum) / T), in [0, 1]; 0: off. Others and NaN:
  /// RowStatus::invalid_parameter.
  Vector<const float, MemorySpace> min_p = {};
};

/// What `truncate` keeps of n rows, in the order of logits (largest first, -0 equal to +0, then
/// the lowest id): everything up to one token. Non-owning; see CutsWorkspace.
template <class MemorySpace>
struct RowCuts {
  Vector<float, MemorySpace> logit;         ///< [n]: logit of the last kept token
  Vector<std::int32_t, MemorySpace> token;  ///< [n]: id of the last kept token
  /// [n]: sum over the kept tokens of RNE(exp((x - row maximum) / T) * 2^44)
  Vector<std::int64_t, MemorySpace> mass;
  /// [n]: number of kept tokens. 0: the row is unusable (see its status). -1: the row is not
  /// truncated (all off, or greedy), and the other three say nothing.
  Vector<std::int32_t, MemorySpace> count;
};

/// One row's cut.
struct RowCut {
  float logit = -__builtin_huge_valf();  ///< see RowCuts
  std::int32_t token = -1;               ///< see RowCuts
  std::int64_t mass = 0;                 ///< see RowCuts
  std::int32_t count = 0;                ///< see RowCuts

  /// The cut of row `row`.
  template <class MemorySpace>
  KOKKOS_FUNCTION static RowCut of(const RowCuts<MemorySpace>& cuts, std::int64_t row) {
    return {cuts.logit(row), cuts.token(row), cuts.mass(row), cuts.count(row)};
  }

  /// Whether an allowed token with logit x is kept, in a row with count >= 0.
  KOKKOS_FORCEINLINE_FUNCTION bool keeps(float x, std::int64_t id) const {
    return x > logit || (x == logit && id <= token);
  }
};

}  // namespace tokkos
