// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/row_status.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/exact_sum.hpp>
#include <tokkos/numerics/wide_product.hpp>

#include "kernels/chunk_kernel.hpp"
#include "kernels/launch.hpp"
#include "kernels/prefix_search.hpp"
#include "numerics/wrapping_sum.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

// Rows of given probabilities, walked in chunks. A "row" functor yields a chunk: row(start, length,
// buffer) returns where the probabilities of tokens [start, start + length) stand, in memory that
// was given or in the team's scratch `buffer`, to which each member writes its own places.

namespace tokkos {

/// The largest number that is taken for a probability: 1.001 leaves room for rounding in 16 bits,
/// and the sum of a small residual may be a few percent off.
inline constexpr float largest_given = 1.001f;
inline constexpr float largest_residual = 1.1f;

KOKKOS_FORCEINLINE_FUNCTION bool is_illegal_probability(float p) {
  return !(p >= 0.0f && p <= largest_given);
}

/// Tokens of a chunk that a member takes: all on a host, where a team is one thread, every
/// team_size-th on a device. No two calls of `body` may touch the same memory.
template <class ExecutionSpace, class Team, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_own_places(const Team& team, int length, const Body& body) {
  if constexpr (runs_on_host<ExecutionSpace>) {
#pragma omp simd
    for (int j = 0; j < length; ++j) body(j);
  } else {
    for (int j = team.team_rank(); j < length; j += team.team_size()) body(j);
  }
}

/// Whether place j is the member's own.
template <class ExecutionSpace, class Team>
KOKKOS_FORCEINLINE_FUNCTION bool is_own_place(const Team& team, int j) {
  return runs_on_host<ExecutionSpace> || j % team.team_size() == team.team_rank();
}

/// A member's own sum, and whether one of its numbers was no probability.
struct OwnSum {
  std::int64_t sum = 0;
  int illegal = 0;
};

/// p if it is in [0, 2], else the nearer end (0 for NaN): sums of anything stay in range.
KOKKOS_FORCEINLINE_FUNCTION float bounded_mass(float p) {
  const float positive = p > 0.0f ? p : 0.0f;
  return positive < 2.0f ? positive : 2.0f;
}

/// Bits that grow with a number from 0 on, and are above those of every probability for all that is
/// none: negative numbers and NaN.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t legality_bits(float p) {
  return __builtin_bit_cast(std::uint32_t, p + 0.0f);  // -0 becomes +0, which is one
}

/// A member's own sum of max(p(j) - q(j), 0) on the grid. No p may be above `largest`, no q above
/// largest_given.
template <class ExecutionSpace, class Team, class First, class Second>
KOKKOS_FORCEINLINE_FUNCTION OwnSum sum_own_places(const Team& team, int length, const First& p,
                                                  const Second& q, float largest) {
  std::uint64_t sum = 0;
  std::uint32_t highest_p = 0, highest_q = 0;
  if constexpr (runs_on_host<ExecutionSpace>) {
    // hot loop
#pragma omp simd reduction(+ : sum) reduction(max : highest_p, highest_q)
    for (int j = 0; j < length; ++j) {
      const float one = p(j), other = q(j);
      sum += grid_bits(bounded_mass(one - other));
      const std::uint32_t bits_p = legality_bits(one), bits_q = legality_bits(other);
      highest_p = bits_p > highest_p ? bits_p : highest_p;
      highest_q = bits_q > highest_q ? bits_q : highest_q;
    }
    sum -= static_cast<std::uint64_t>(length) * grid_bias;
  } else {
    for (int j = team.team_rank(); j < length; j += team.team_size()) {
      const float one = p(j), other = q(j);
      sum += grid_bits(bounded_mass(one - other)) - grid_bias;
      const std::uint32_t bits_p = legality_bits(one), bits_q = legality_bits(other);
      highest_p = bits_p > highest_p ? bits_p : highest_p;
      highest_q = bits_q > highest_q ? bits_q : highest_q;
    }
  }
  const bool is_legal =
      highest_p <= legality_bits(largest) && highest_q <= legality_bits(largest_given);
  return {static_cast<std::int64_t>(sum), is_legal ? 0 : 1};
}

/// What a team needs to walk rows of probabilities: one chunk, and the mass of every chunk.
struct RowScratch {
  float* chunk;
  std::int64_t* masses;
};

inline constexpr std::size_t row_scratch =
    chunk_scratch +
    static_cast<std::size_t>(chunk_count(max_active_vocabulary)) * sizeof(std::int64_t) + 64;

template <class Team>
KOKKOS_FUNCTION RowScratch row_scratch_of(const Team& team) {
  float* chunk = chunk_buffer(team);
  const auto masses = static_cast<std::size_t>(chunk_count(max_active_vocabulary));
  return {chunk, static_cast<std::int64_t*>(
                     team.team_scratch(0).get_shmem_aligned(masses * sizeof(std::int64_t), 64))};
}

/// Length of the chunk that starts at token `start`.
KOKKOS_FORCEINLINE_FUNCTION int chunk_length(std::int64_t vocabulary, std::int64_t start) {
  const std::int64_t left = vocabulary - start;
  return static_cast<int>(left < chunk_size ? left : chunk_size);
}

/// A member's own sum of a chunk of given probabilities, the largest legal one `largest`.
template <class ExecutionSpace, class Team>
KOKKOS_FUNCTION OwnSum sum_given(const Team& team, int length, const float* p, float largest) {
  return sum_own_places<ExecutionSpace>(
      team, length, [=](int j) { return p[j]; }, [](int) { return 0.0f; }, largest);
}

/// The sum of the members' sums, for every member. Numbers that are no probabilities may be 2 each:
/// the sum of a row of them is below 2^64 and, from 2^63 on, illegal.
template <class Team>
KOKKOS_FUNCTION OwnSum sum_of_members(const Team& team, OwnSum own) {
  auto sum = static_cast<std::uint64_t>(own.sum);
  team.team_reduce(Kokkos::Sum<std::uint64_t>(sum));
  OwnSum total{static_cast<std::int64_t>(sum), own.illegal};
  team.team_reduce(Kokkos::Max<int>(total.illegal));
  if (total.sum < 0) total.illegal = 1;
  return total;
}

/// Sum of chunk_sum(start, length) over the chunks of a row, for every member. Each chunk's is left
/// in `masses`, unless that is null.
template <class Team, class ChunkSum>
KOKKOS_FUNCTION OwnSum sum_chunks(const Team& team, std::int64_t vocabulary,
                                  const ChunkSum& chunk_sum, std::int64_t* masses) {
  OwnSum mine;
  for (std::int64_t start = 0; start < vocabulary; start += chunk_size) {
    OwnSum own = chunk_sum(start, chunk_length(vocabulary, start));
    mine.illegal |= own.illegal;
    mine.sum = wrapping_sum(mine.sum, own.sum);
    if (masses != nullptr) {
      team.team_reduce(Kokkos::Sum<std::int64_t>(own.sum));
      Kokkos::single(Kokkos::PerTeam(team), [&]() { masses[start / chunk_size] = own.sum; });
    }
  }
  const OwnSum total = sum_of_members(team, mine);
  team.team_barrier();  // every member reads every chunk's mass
  return total;
}

/// Draws from the row whose chunks `row` yields and whose sums are `total` and, by chunk, `masses`:
/// the first token whose inclusive prefix of RNE(p * 2^44) exceeds floor(u * sum). -1, and status
/// bits, if u is NaN or the row is not a distribution: its sum is checked if it is said to be 1,
/// and the row must be what was summed.
template <class Team, class Row>
KOKKOS_FUNCTION TokenId draw_from_row(const Team& team, std::int64_t vocabulary, const Row& row,
                                      float u, OwnSum total, const std::int64_t* masses,
                                      float* buffer, bool sums_to_one, std::int32_t& status) {
  constexpr std::int64_t tolerance = grid_one / 100;
  u = clamped_uniform(u);
  if (u != u) status |= RowStatus::invalid_parameter;
  if (total.illegal != 0) {
    status |= RowStatus::invalid_probability;
  } else if (total.sum == 0) {
    status |= RowStatus::empty;
  } else if (sums_to_one &&
             (total.sum < grid_one - tolerance || total.sum > grid_one + tolerance)) {
    status |= RowStatus::invalid_probability;
  }
  if ((status & unusable_row) != 0) return -1;

  const std::int64_t target = floor_of_share(u, total.sum);
  const Crossing chunk = first_crossing(
      team, chunk_count(vocabulary), [&](std::int64_t c) { return masses[c]; },
      [&](std::int64_t prefix) { return prefix > target; });
  if (chunk.index < 0) {
    status |= RowStatus::invalid_probability;
    return -1;
  }
  const std::int64_t start = chunk.index * chunk_size;
  const int length = chunk_length(vocabulary, start);
  const float* p = row(start, length, buffer);
  team.team_barrier();  // every member reads other members' places
  const Crossing token = first_crossing(
      team, length, [&](std::int64_t j) { return to_grid(bounded_mass(p[j])); },
      [&](std::int64_t prefix) { return chunk.before + prefix > target; });
  if (token.index < 0) status |= RowStatus::invalid_probability;
  return token.index < 0 ? -1 : static_cast<TokenId>(start + token.index);
}

}  // namespace tokkos
