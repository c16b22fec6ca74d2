// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/random_values.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace tokkos::test {

/// How many rows of which vocabulary are compared: 10000 in all, in builds without optimization
/// 1000.
struct Share {
  std::int64_t rows, vocabulary;
};
#ifdef NDEBUG
inline constexpr Share row_shares[] = {{5200, 37}, {4200, 300}, {440, 4097}, {160, 9001}};
#else
inline constexpr Share row_shares[] = {{520, 37}, {420, 300}, {44, 4097}, {16, 9001}};
#endif

/// The numbers 0 to n - 1 in random order, cut into batches of 2 to 512.
inline std::vector<std::vector<std::int64_t>> shuffled_batches(std::int64_t n,
                                                               RandomValues& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  std::vector<std::vector<std::int64_t>> batches;
  for (auto begin = order.begin(); begin != order.end();) {
    const std::int64_t largest = std::int64_t{2} << random.below(9);  // small ones as often
    auto size = std::min(2 + random.below(largest - 1), order.end() - begin);
    if (order.end() - begin - size == 1) size -= size > 2 ? 1 : -1;  // none alone at the end
    batches.emplace_back(begin, begin + size);
    begin += size;
  }
  return batches;
}

/// values[rows[0]], values[rows[1]], ...
template <class T>
std::vector<T> chosen(const std::vector<T>& values, const std::vector<std::int64_t>& rows) {
  std::vector<T> result;
  for (const std::int64_t row : rows) result.push_back(values[static_cast<std::size_t>(row)]);
  return result;
}

/// How many of the values differ from all others before them.
inline std::int64_t distinct(const std::vector<std::uint64_t>& values) {
  return static_cast<std::int64_t>(std::set<std::uint64_t>(values.begin(), values.end()).size());
}

}  // namespace tokkos::test
