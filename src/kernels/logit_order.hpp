// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

// The order of a row's tokens (logit descending, -0 equal to +0, then id ascending) as integers.

namespace tokkos {

/// A token's place: the larger one comes first, and no two tokens of a row have the same.
using Order = std::uint64_t;

inline constexpr int order_id_bits = 19;
inline constexpr Order order_id_mask = (Order{1} << order_id_bits) - 1;
static_assert(max_active_vocabulary <= static_cast<std::int64_t>(order_id_mask));

/// Logits (no NaN) as integers of the same order.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t logit_key(float x) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x + 0.0f);  // -0 becomes +0
  const auto sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31);
  return bits ^ (sign | 0x80000000u);
}

/// The logit that has a key (never -0).
KOKKOS_FORCEINLINE_FUNCTION float logit_of_key(std::uint32_t key) {
  const auto sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(~key) >> 31);
  return __builtin_bit_cast(float, key ^ (sign | 0x80000000u));
}

KOKKOS_FORCEINLINE_FUNCTION Order order_of_key(std::uint32_t key, std::int64_t id) {
  return (Order{key} << order_id_bits) | (order_id_mask - static_cast<Order>(id));
}
KOKKOS_FORCEINLINE_FUNCTION Order order_of(float x, std::int64_t id) {
  return order_of_key(logit_key(x), id);
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t key_of(Order order) {
  return static_cast<std::uint32_t>(order >> order_id_bits);
}
KOKKOS_FORCEINLINE_FUNCTION float logit_of(Order order) {
  return logit_of_key(key_of(order));
}
KOKKOS_FORCEINLINE_FUNCTION std::int32_t token_of(Order order) {
  return static_cast<std::int32_t>(order_id_mask - (order & order_id_mask));
}

/// A range of places, both ends included.
struct OrderRange {
  Order last;   ///< the smallest
  Order first;  ///< the largest

  /// All tokens with a logit key in [lowest, highest].
  KOKKOS_FUNCTION static OrderRange of_keys(std::uint32_t lowest, std::uint32_t highest) {
    return {order_of_key(lowest, order_id_mask), order_of_key(highest, 0)};
  }
  KOKKOS_FORCEINLINE_FUNCTION bool holds(Order order) const {
    return order >= last && order <= first;
  }
};

/// The smallest key of an allowed logit: those at or below -FLT_MAX are forbidden.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t lowest_allowed_key() {
  return logit_key(masked_logit) + 1;
}

/// The smallest key of an allowed logit for which `holds(logit)`, which is monotone and true at the
/// key `highest`.
template <class Predicate>
KOKKOS_FUNCTION std::uint32_t smallest_key(std::uint32_t highest, const Predicate& holds) {
  std::uint32_t lowest = lowest_allowed_key();
  while (lowest < highest) {
    const std::uint32_t middle = lowest + (highest - lowest) / 2;
    if (holds(logit_of_key(middle))) {
      highest = middle;
    } else {
      lowest = middle + 1;
    }
  }
  return highest;
}

}  // namespace tokkos
