// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inputs.hpp"

#include <cstdint>

namespace tokkos::bench {

/// Truncation as most samplers on a CPU do it: each row is sorted whole, one thread per row, then
/// cut by count, by the running sum of its exponentials, and by their size.
class FullSort {
 public:
  struct Token {
    float logit;
    std::int32_t id;
  };

  FullSort(std::int64_t rows, std::int64_t vocabulary);

  /// Writes how many tokens of each row stay. top_k 0, top_p 1 and min_p 0 are off.
  void truncate(const Space& space, const Rows<float>& logits, const Numbers<float>& temperature,
                std::int32_t top_k, float top_p, float min_p) const;

 private:
  Kokkos::View<Token**, Kokkos::LayoutRight, Kokkos::HostSpace> m_tokens;
  Kokkos::View<std::int32_t*, Kokkos::HostSpace> m_count;
};

}  // namespace tokkos::bench
