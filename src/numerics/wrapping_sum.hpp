// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// a + b modulo 2^64, for masses that may be those of logits that changed since they were measured:
/// they can be anything, and their sums must not overflow.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// a - b, likewise.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace tokkos
