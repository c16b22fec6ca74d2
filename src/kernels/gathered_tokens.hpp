// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/logit_order.hpp"
#include "kernels/order_selection.hpp"
#include "kernels/row_tokens.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

// Tokens of a row that are gathered once and then worked on, on a host.

namespace tokkos {

/// Tokens that there is room for.
inline constexpr std::int64_t gathered_room = 12288;

/// The most tokens that gather_first gathers: room is left for a chunk that is still unsifted.
inline constexpr std::int64_t largest_gathered_top = 4096;

/// Places of tokens, in the team's scratch.
class GatheredTokens {
 public:
  KOKKOS_FUNCTION explicit GatheredTokens(Order* memory) : m_orders(memory) {}

  template <class Team, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void visit(const Team&, const OrderRange& range,
                                         const Body& body) const {
    for (std::int64_t i = 0; i < m_count; ++i) {
      if (range.holds(m_orders[i])) body(m_orders[i], logit_of(m_orders[i]));
    }
  }

  /// What the tokens from the first place to `cut` sum up to.
  KOKKOS_FUNCTION KeptTokens kept(Order cut, const TokenWeight& weight) const {
    std::int64_t count = 0;
    std::uint64_t mass = 0;
    Order last = ~Order{0};
    // hot loop
#pragma omp simd reduction(+ : count, mass) reduction(min : last)
    for (std::int64_t i = 0; i < m_count; ++i) {
      const Order order = m_orders[i];
      const bool is_kept = order >= cut;
      count += is_kept ? 1 : 0;
      mass += is_kept ? static_cast<std::uint64_t>(weight.mass(logit_of(order))) : 0;
      last = is_kept && order < last ? order : last;
    }
    return {count, static_cast<std::int64_t>(mass), last};
  }

  /// Gathers the tokens of `range`, and counts those before it. False if there is no room.
  template <class Team, class Row>
  KOKKOS_FUNCTION bool gather(const Team& team, const Row& row, const OrderRange& range) {
    const float lowest = logit_of(range.last);
    const float highest = logit_of(range.first);
    const float above = logit_of_key(key_of(range.first) + 1);
    m_count = 0;
    m_before = 0;
    for (std::int64_t c = 0; c < row.chunks(); ++c) {
      row.for_blocks_of(team, c, lowest, [&](const float* x, std::int64_t id) {
        if (above <= row.maximum()) m_before += Row::count_from(x, above);
        Row::for_each_within(x, lowest, highest,
                             [&](int j) { m_orders[m_count++] = order_of(x[j], id + j); });
      });
      if (m_count > gathered_room - chunk_size) return false;
    }
    return true;
  }

  /// Tokens of the row before the range that was gathered.
  KOKKOS_FUNCTION std::int64_t before() const {
    return m_before;
  }

  /// Gathers the first k tokens of a row whose maximum has the key `highest`; all, if there are no
  /// more than k. k <= largest_gathered_top.
  template <class Team, class Row, class BucketsOf>
  KOKKOS_FUNCTION void gather_first(const Team& team, const Row& row, std::int64_t k,
                                    std::uint32_t highest, const BucketsOf& buckets) {
    OrderRange range = OrderRange::of_keys(lowest_allowed_key(), highest);
    const Order sure = last_by_chunks(team, row, k, range, buckets);
    range.last = row.chunks() < k ? last_by_sample(team, row, k, range, buckets) : sure;
    fill_first(team, row, k, range, buckets);
    if (m_count < k && range.last > sure) {  // the sample was misleading
      range.last = sure;
      fill_first(team, row, k, range, buckets);
    }
    if (m_count > k) keep_first(team, k, range, buckets);
  }

 private:
  /// Gathers the tokens of `range` or, while there are many more than k, about the first k of them.
  template <class Team, class Row, class BucketsOf>
  KOKKOS_FUNCTION void fill_first(const Team& team, const Row& row, std::int64_t k,
                                  OrderRange range, const BucketsOf& buckets) {
    // Sifting costs little if it is done where a few times k tokens have come together.
    const std::int64_t limit =
        Kokkos::min(Kokkos::max(4 * k, std::int64_t{chunk_size / 2}), gathered_room - chunk_size);
    m_count = 0;
    for (std::int64_t c = 0; c < row.chunks(); ++c) {
      row.visit_chunk(team, c, range, [&](Order order, float) { m_orders[m_count++] = order; });
      if (m_count > limit) range.last = keep_first(team, k, range, buckets);
    }
  }

  /// A place that k tokens probably have or come before. Only the time taken depends on it.
  template <class Team, class Row, class BucketsOf>
  KOKKOS_FUNCTION Order last_by_sample(const Team& team, const Row& row, std::int64_t k,
                                       const OrderRange& range, const BucketsOf& buckets) {
    if (!row.is_sampled()) return range.last;
    m_count = 0;
    row.visit_sample([&](float x) {
      m_orders[m_count] = order_of(x, m_count);
      ++m_count;
    });
    const double share = static_cast<double>(k) / row.sample_step();
    const auto rank = static_cast<std::int64_t>(share + 4 * Kokkos::sqrt(share) + 4);
    if (m_count <= rank) return range.last;
    const Order last = keep_first(team, rank, range, buckets);
    return order_of_key(key_of(last), order_id_mask);
  }

  /// A place that at least k tokens have or come before, found in the maxima of the chunks.
  template <class Team, class Row, class BucketsOf>
  KOKKOS_FUNCTION Order last_by_chunks(const Team& team, const Row& row, std::int64_t k,
                                       const OrderRange& range, const BucketsOf& buckets) {
    m_count = 0;
    if (row.chunks() < k) return range.last;
    for (std::int64_t c = 0; c < row.chunks(); ++c) {
      const Order order = order_of(row.chunk_maximum(c), c);
      if (range.holds(order)) m_orders[m_count++] = order;
    }
    const bool is_enough = m_count >= k;
    const Order kth = is_enough ? keep_first(team, k, range, buckets) : range.last;
    m_count = 0;
    return order_of_key(key_of(kth), order_id_mask);
  }

  /// Forgets all but the first k of more than k tokens; returns a place between the two.
  template <class Team, class BucketsOf>
  KOKKOS_FUNCTION Order keep_first(const Team& team, std::int64_t k, const OrderRange& range,
                                   const BucketsOf& buckets) {
    const Order cut =
        select_order(team, *this, range, k, buckets, [](float) { return std::int64_t{1}; });
    std::int64_t left = 0;
    for (std::int64_t i = 0; i < m_count; ++i) {
      const Order order = m_orders[i];
      m_orders[left] = order;
      left += order >= cut ? 1 : 0;
    }
    m_count = left;
    return cut;
  }

  Order* m_orders;
  std::int64_t m_count = 0;
  std::int64_t m_before = 0;
};

}  // namespace tokkos
