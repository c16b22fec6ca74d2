// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/launch.hpp"
#include "kernels/logit_order.hpp"
#include "kernels/prefix_search.hpp"

#include <Kokkos_Core.hpp>

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
      sums[bucket] += weight;
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
    const bool whole = found.before + buckets.sums[found.index] == target;
    const Order last_of_all = range.last;
    range.first -= static_cast<Order>(found.index) << shift;
    const Order size = (Order{1} << shift) - 1;
    range.last = range.first - last_of_all > size ? range.first - size : last_of_all;
    if (shift == 0 || whole) return range.last;
    target -= found.before;
  }
}

}  // namespace tokkos
