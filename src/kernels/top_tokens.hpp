// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/chunk_kernel.hpp"
#include "kernels/logit_order.hpp"
#include "kernels/row_tokens.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

// The first tokens of a row without sorting it: a place in the order is bisected until neither too
// few tokens stand before it nor more than there is room for. Those are gathered, and a token's
// rank is the number of gathered tokens before it.

namespace tokkos {

/// The first tokens of one row, in the team's scratch.
template <class ExecutionSpace>
class TopTokens {
 public:
  /// Tokens that there is room for: a place is too late as soon as there are more. Bisecting ends
  /// the sooner, ranking costs the more, the larger it is.
  static constexpr int room = 512;

  /// Of the team's scratch, for the tokens and a chunk of logits.
  static constexpr std::size_t bytes = chunk_scratch + room * sizeof(Order) + 64 + sizeof(int) + 64;

  template <class Team>
  KOKKOS_FUNCTION explicit TopTokens(const Team& team)
      : m_chunk(chunk_buffer(team)),
        m_orders(
            static_cast<Order*>(team.team_scratch(0).get_shmem_aligned(room * sizeof(Order), 64))),
        m_gathered(static_cast<int*>(team.team_scratch(0).get_shmem_aligned(sizeof(int), 64))) {}

  KOKKOS_FUNCTION float* chunk() const { return m_chunk; }
  KOKKOS_FUNCTION int count() const { return m_count; }
  KOKKOS_FUNCTION Order operator[](int i) const { return m_orders[i]; }

  /// Gathers at least the first `wanted` tokens of `range`, or all if there are fewer.
  template <class Team, class Row>
  KOKKOS_FUNCTION void gather_first(const Team& team, const Row& row, const OrderRange& range,
                                    int wanted) {
    OrderRange left = range;  // up to its last place too many, before its first too few
    const float guess = smallest_chunk_maximum(row);
    if (attempt(team, row, order_of_key(logit_key(guess), order_id_mask), range, left, wanted)) {
      return;
    }
    if (m_count < wanted) {
      if (gather(team, row, range)) return;
      const float lower = guess - 0.25f * (logit_of(range.first) - guess);
      const Order place = order_of_key(logit_key(lower), order_id_mask);
      if (place > left.last && attempt(team, row, place, range, left, wanted)) return;
    }
    while (left.last < left.first) {
      const Order middle = left.first - (left.first - left.last) / 2;
      if (attempt(team, row, middle, range, left, wanted)) return;
    }
    m_count = 0;  // the logits are no longer those that were measured
  }

  /// Place of gathered token i in the row's order.
  KOKKOS_FUNCTION int rank_of(int i) const {
    const Order order = m_orders[i];
    int rank = 0;
#pragma omp simd reduction(+ : rank)
    for (int j = 0; j < m_count; ++j) rank += m_orders[j] > order ? 1 : 0;
    return rank;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void add(Order order) const {
    int slot;
    if constexpr (runs_on_host<ExecutionSpace>) {
      slot = (*m_gathered)++;
    } else {
      slot = Kokkos::atomic_fetch_add(m_gathered, 1);
    }
    if (slot < room) m_orders[slot] = order;
  }

  /// Where a row of chunks that are alike has a few tokens per chunk.
  template <class Row>
  KOKKOS_FUNCTION static float smallest_chunk_maximum(const Row& row) {
    float smallest = -negative_infinity;
    for (std::int64_t c = 0; c < row.chunks(); ++c) {
      const float maximum = row.chunk_maximum(c);
      if (maximum > negative_infinity && maximum < smallest) smallest = maximum;
    }
    return smallest;
  }

  /// Gathers the tokens of `range` up to `place`. False, and `left` is narrowed, if there are too
  /// few or too many.
  template <class Team, class Row>
  KOKKOS_FUNCTION bool attempt(const Team& team, const Row& row, Order place,
                               const OrderRange& range, OrderRange& left, int wanted) {
    const bool is_whole = place <= range.last;
    if (!gather(team, row, {is_whole ? range.last : place, range.first})) {
      left.last = is_whole ? range.last : place;
      return false;
    }
    if (m_count >= wanted || is_whole) return true;
    left.first = place - 1;
    return false;
  }

  /// Gathers the tokens of `range`. False, soon, if there are more than there is room for.
  template <class Team, class Row>
  KOKKOS_FUNCTION bool gather(const Team& team, const Row& row, const OrderRange& range) {
    team.team_barrier();  // other members still read the tokens
    Kokkos::single(Kokkos::PerTeam(team), [&]() { *m_gathered = 0; });
    team.team_barrier();
    const float lowest = logit_of(range.last);
    m_count = 0;
    for (std::int64_t c = 0; c < row.chunks() && m_count <= room; ++c) {
      if (!(row.chunk_maximum(c) >= lowest)) continue;
      row.visit_chunk(team, c, range, [&](Order order, float) { add(order); });
      team.team_barrier();  // every member has added
      m_count = *m_gathered;
      team.team_barrier();  // every member has read
    }
    return m_count <= room;
  }

  float* m_chunk;
  Order* m_orders;
  int* m_gathered;
  int m_count = 0;
};

}  // namespace tokkos
