// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tokkos::test {

/// Results of a step, as bits.
using Bits = std::vector<std::uint32_t>;

/// Appends results of 32 bits each.
template <class T>
void append(Bits& bits, const std::vector<T>& results) {
  for (const T& value : results) bits.push_back(std::bit_cast<std::uint32_t>(value));
}

}  // namespace tokkos::test
