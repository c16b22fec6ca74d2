// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/chunk_kernel.hpp"
#include "kernels/launch.hpp"
#include "kernels/logit_order.hpp"
#include "kernels/prefix_search.hpp"
#include "numerics/wrapping_sum.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

// Selection without sorting: integer weights are summed in buckets of the order, and the bucket in
// which the wanted sum is reached is cut into buckets again.

namespace tokkos {

inline constexpr int bucket_bits = 11;
inline constexpr int bucket_count = 1 << bucket_bits;

/// Sums of weights by bucket, in the team's scratch. Bucket 0 holds the first places.
template <class ExecutionSpace>
struct Buckets {
  std::int64_t* sums;  ///< [bucket_count]

  /// Every member may add once this returns.
  template <class Team>
  KOKKOS_FUNCTION void clear(const Team& team) const {
    team.team_barrier();  // other members still read the sums
    for (int i = team.team_rank(); i < bucket_count; i += team.team_size()) sums[i] = 0;
    team.team_barrier();
  }

  KOKKOS_FORCEINLINE_FUNCTION void add(int bucket, std::int64_t weight) const {
    if constexpr (runs_on_host<ExecutionSpace>) {
      sums[bucket] = wrapping_sum(sums[bucket], weight);
    } else {
      Kokkos::atomic_add(&sums[bucket], weight);
    }
  }

  /// The bucket in which the sum of weights reaches `target`, once every member has added.
  template <class Team>
  KOKKOS_FUNCTION Crossing reach(const Team& team, int count, std::int64_t target) const {
    team.team_barrier();
    return first_crossing(
        team, count, [&](std::int64_t i) { return sums[i]; },
        [&](std::int64_t prefix) { return prefix >= target; });
  }
};

/// The smallest place such that the tokens of `range` from its first place to that one weigh at
/// least `target` > 0; if all of them weigh less, the range's last place. It need not be the place
/// of a token. Every member gets it.
template <class ExecutionSpace, class Team, class Tokens, class Weight>
KOKKOS_FUNCTION Order select_order(const Team& team, const Tokens& tokens, OrderRange range,
                                   std::int64_t target, const Buckets<ExecutionSpace>& buckets,
                                   const Weight& weight) {
  for (;;) {
    int shift = 0;
    while (((range.first - range.last) >> shift) >= bucket_count) ++shift;
    buckets.clear(team);
    tokens.visit(team, range, [&](Order order, float x) {
      buckets.add(static_cast<int>((range.first - order) >> shift), weight(x));
    });
    const int count = static_cast<int>((range.first - range.last) >> shift) + 1;
    const Crossing found = buckets.reach(team, count, target);
    if (found.index < 0) return range.last;
    const bool whole = wrapping_sum(found.before, buckets.sums[found.index]) == target;
    const Order last_of_all = range.last;
    range.first -= static_cast<Order>(found.index) << shift;
    const Order size = (Order{1} << shift) - 1;
    range.last = range.first - last_of_all > size ? range.first - size : last_of_all;
    if (shift == 0 || whole) return range.last;
    target = wrapping_difference(target, found.before);
  }
}

/// The first few tokens of one row, in the team's scratch. Where a guess does not find them,
/// select_order does. A token's rank is the number of gathered tokens before it.
template <class ExecutionSpace>
class TopTokens {
 public:
  /// Tokens that there is room for: more are not gathered. Ranking costs the more, the larger it
  /// is.
  static constexpr int room = 512;

  /// Of the team's scratch: a chunk of logits, the tokens or, before there are any, the buckets,
  /// and a counter.
  static constexpr std::size_t bytes =
      chunk_scratch + bucket_count * sizeof(std::int64_t) + 64 + sizeof(int) + 64;
  static_assert(room * sizeof(Order) <= bucket_count * sizeof(std::int64_t));

  template <class Team>
  KOKKOS_FUNCTION explicit TopTokens(const Team& team)
      : m_chunk(chunk_buffer(team)),
        m_buckets{static_cast<std::int64_t*>(
            team.team_scratch(0).get_shmem_aligned(bucket_count * sizeof(std::int64_t), 64))},
        m_orders(reinterpret_cast<Order*>(m_buckets.sums)),
        m_gathered(static_cast<int*>(team.team_scratch(0).get_shmem_aligned(sizeof(int), 64))) {}

  KOKKOS_FUNCTION float* chunk() const { return m_chunk; }
  KOKKOS_FUNCTION int count() const { return m_count; }
  KOKKOS_FUNCTION Order operator[](int i) const { return m_orders[i]; }

  /// Gathers at least the first `wanted` tokens of `range`, or all if there are fewer. At most
  /// room / 2 may be wanted.
  template <class Team, class Row>
  KOKKOS_FUNCTION void gather_first(const Team& team, const Row& row, const OrderRange& range,
                                    int wanted) {
    OrderRange left = range;  // where the last wanted token stands
    const auto attempt = [&](Order place) {
      const bool is_whole = place <= range.last;
      if (is_whole) place = range.last;
      if (!gather(team, row, {place, range.first})) {
        left.last = place;
        return false;
      }
      if (m_count >= wanted || is_whole) return true;
      left.first = place - 1;
      return false;
    };
    const float guess = smallest_chunk_maximum(row);
    if (attempt(order_of_key(logit_key(guess), order_id_mask))) return;
    if (m_count < wanted) {
      if (gather(team, row, range)) return;
      const float lower = guess - 0.25f * (logit_of(range.first) - guess);
      const Order place = order_of_key(logit_key(lower), order_id_mask);
      if (place > left.last && attempt(place)) return;
    }
    if (left.last <= left.first) {
      // What is found before `left` comes on top: fewer than wanted, so that there is room.
      left.last =
          select_order(team, row, left, wanted, m_buckets, [](float) { return std::int64_t{1}; });
      if (gather(team, row, {left.last, range.first})) return;
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
  Buckets<ExecutionSpace> m_buckets;
  Order* m_orders;
  int* m_gathered;
  int m_count = 0;
};

}  // namespace tokkos
