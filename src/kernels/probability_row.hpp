// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/row_status.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/exact_sum.hpp>
#include <tokkos/numerics/wide_product.hpp>

#include "kernels/launch.hpp"
#include "kernels/prefix_search.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

// Rows of given probabilities, walked in chunks through the team's scratch. A "fill" functor brings
// one chunk there: fill(start, length, p) writes the probabilities of tokens [start, start +
// length) to p, each member those of its own places, and returns whether it saw an illegal one
// among them.

namespace tokkos {

/// Whether a given number is not a probability; 1.001 leaves room for rounding in 16 bits.
KOKKOS_FORCEINLINE_FUNCTION bool is_illegal_probability(float p) {
  return !(p >= 0.0f && p <= 1.001f);
}

/// Tokens that a member takes at a time: consecutive on a host, every team_size-th on a device.
template <class ExecutionSpace, class Team, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_own_places(const Team& team, int length, const Body& body) {
  if constexpr (runs_on_host<ExecutionSpace>) {
    for (int j = 0; j < length; ++j) body(j);
  } else {
    for (int j = team.team_rank(); j < length; j += team.team_size()) body(j);
  }
}

/// Length of the chunk that starts at token `start`.
KOKKOS_FORCEINLINE_FUNCTION int chunk_length(std::int64_t vocabulary, std::int64_t start) {
  const std::int64_t left = vocabulary - start;
  return static_cast<int>(left < chunk_size ? left : chunk_size);
}

/// Sum of a filled chunk in units of 2^-44, over the whole team.
template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION std::int64_t chunk_mass(const Team& team, const float* p, int length) {
  std::int64_t sum = 0;
  for_own_places<ExecutionSpace>(team, length, [&](int j) { sum += to_grid(p[j]); });
  team.team_reduce(Kokkos::Sum<std::int64_t>(sum));
  return sum;
}

/// Draws from the row that `fill` yields: the first token whose inclusive prefix of RNE(p * 2^44)
/// exceeds floor(u * sum). -1, and status bits, if u is NaN or the row is not a distribution: its
/// sum is checked if it is said to be 1.
template <class ExecutionSpace, class Team, class Fill>
KOKKOS_FUNCTION TokenId draw_from_row(const Team& team, std::int64_t vocabulary, const Fill& fill,
                                      float u, float* p, bool sums_to_one, std::int32_t& status) {
  constexpr std::int64_t tolerance = grid_one / 100;
  std::int64_t sum = 0;
  int illegal = 0;
  for (std::int64_t start = 0; start < vocabulary; start += chunk_size) {
    const int length = chunk_length(vocabulary, start);
    if (fill(start, length, p)) illegal = 1;
    sum += chunk_mass<ExecutionSpace>(team, p, length);
  }
  team.team_reduce(Kokkos::Max<int>(illegal));
  u = clamped_uniform(u);
  if (u != u) status |= RowStatus::invalid_parameter;
  if (illegal != 0) {
    status |= RowStatus::invalid_probability;
  } else if (sum == 0) {
    status |= RowStatus::empty;
  } else if (sums_to_one && (sum < grid_one - tolerance || sum > grid_one + tolerance)) {
    status |= RowStatus::invalid_probability;
  }
  if ((status & unusable_row) != 0) return -1;

  const std::int64_t target = floor_of_share(u, sum);
  std::int64_t before = 0;
  for (std::int64_t start = 0; start < vocabulary; start += chunk_size) {
    const int length = chunk_length(vocabulary, start);
    fill(start, length, p);
    const std::int64_t mass = chunk_mass<ExecutionSpace>(team, p, length);
    team.team_barrier();
    if (before + mass > target) {
      const Crossing found = first_crossing(
          team, length, [&](std::int64_t j) { return to_grid(p[j]); },
          [&](std::int64_t prefix) { return before + prefix > target; });
      return static_cast<TokenId>(start + found.index);
    }
    before += mass;
    team.team_barrier();
  }
  return -1;
}

}  // namespace tokkos
