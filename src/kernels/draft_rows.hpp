// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/index_vector.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>

#include "kernels/probability_row.hpp"
#include "numerics/prefetch.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// What DraftRows::row_of says of a node whose token was chosen, not drawn, and of one whose row is
/// none.
inline constexpr std::int64_t one_hot_row = -1;
inline constexpr std::int64_t no_row = -2;

/// The distributions that nodes' tokens were drawn from, as a caller gives them.
template <class Space>
struct DraftRows {
  Matrix<const float, Space> draft_probs;
  IndexVector<Space> draft_row;
  IndexVector<Space> draft_tokens;

  KOKKOS_FUNCTION std::int64_t row_of(std::int32_t node) const {
    const auto rows = static_cast<std::int64_t>(draft_probs.extent(0));
    if (!draft_row.is_given()) return rows == 0 ? one_hot_row : node;
    const std::int64_t row = draft_row(node);
    return row >= one_hot_row && row < rows ? row : no_row;
  }
};

/// Masses of a chunk that were given, and those of one that is 1 at one place (if any) and 0
/// elsewhere.
struct GivenMass {
  const float* q;
  KOKKOS_FORCEINLINE_FUNCTION float operator()(int j) const { return q[j]; }
};
struct OneHotMass {
  int place;
  KOKKOS_FORCEINLINE_FUNCTION float operator()(int j) const { return j == place ? 1.0f : 0.0f; }
};

/// A chunk of such a distribution: if `given` is null, it is one-hot.
struct DraftChunk {
  const float* given;
  int one = -1;

  /// The chunk [start, start + length) of what is 1 at `token`.
  KOKKOS_FUNCTION static DraftChunk one_hot(std::int64_t token, std::int64_t start, int length) {
    const std::int64_t place = token - start;
    return {nullptr, place >= 0 && place < length ? static_cast<int>(place) : -1};
  }
};

// The loops of both rules. Each takes its arguments by value, and one kind of masses, so that it
// vectorizes wherever it ends up.

/// What rejecting a draft of mass q leaves of p, R the sum of it all.
KOKKOS_FORCEINLINE_FUNCTION float remaining(float p, float q, float sum) {
  const float difference = p - q;
  return (difference > 0.0f ? difference : 0.0f) / sum;
}

/// out = remaining(p, q, sum) at the member's own places; `out` may be p.
template <class ExecutionSpace, class Team, class Mass>
KOKKOS_FUNCTION void store_remaining(const Team& team, int length, const float* p, Mass q,
                                     float sum, float* out) {
  for_own_places<ExecutionSpace>(team, length, [=](int j) { out[j] = remaining(p[j], q(j), sum); });
}

template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION void store_remaining(const Team& team, int length, const float* p,
                                     const DraftChunk& draft, float sum, float* out) {
  if (draft.given != nullptr) {
    store_remaining<ExecutionSpace>(team, length, p, GivenMass{draft.given}, sum, out);
  } else {
    store_remaining<ExecutionSpace>(team, length, p, OneHotMass{draft.one}, sum, out);
  }
}

/// A member's own sum of max(p - q, 0) on the grid, and whether one of its numbers is no
/// probability (p at most `largest`).
template <class ExecutionSpace, class Team, class Mass>
KOKKOS_FUNCTION OwnSum sum_remaining(const Team& team, int length, const float* p, Mass q,
                                     float largest) {
  return sum_own_places<ExecutionSpace>(
      team, length, [=](int j) { return p[j]; }, q, largest);
}

/// The same on a host, where the lines of two rows come too late by themselves: they are asked for
/// two pages ahead.
template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION OwnSum sum_remaining_ahead(const Team& team, int length, const float* p,
                                           const float* q, float largest) {
  constexpr int block = 256, line = 16, ahead = 2048;
  OwnSum own;
  for (int first = 0; first < length; first += block) {
    for (int j = first + ahead; j < first + ahead + block; j += line) {
      prefetch(p + j);
      prefetch(q + j);
    }
    const int count = length - first < block ? length - first : block;
    const OwnSum part =
        sum_remaining<ExecutionSpace>(team, count, p + first, GivenMass{q + first}, largest);
    own.sum += part.sum;
    own.illegal |= part.illegal;
  }
  return own;
}

template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION OwnSum sum_remaining(const Team& team, int length, const float* p,
                                     const DraftChunk& draft, float largest) {
  if (draft.given != nullptr) {
    if constexpr (runs_on_host<ExecutionSpace>) {
      return sum_remaining_ahead<ExecutionSpace>(team, length, p, draft.given, largest);
    } else {
      return sum_remaining<ExecutionSpace>(team, length, p, GivenMass{draft.given}, largest);
    }
  }
  return sum_remaining<ExecutionSpace>(team, length, p, OneHotMass{draft.one}, largest);
}

}  // namespace tokkos
