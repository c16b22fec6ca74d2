// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Which Views share memory: exactly those that have a byte in common.
#include "kernels/named_range.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace tokkos::test {
namespace {

using Bytes = std::vector<std::byte>;

/// Rows in some memory, by the bytes that they take.
template <class T>
struct Rows {
  std::size_t first, count, columns, stride;

  NamedRange range(Bytes& memory) const {
    return NamedRange::of(
        "rows", Matrix<T, Kokkos::HostSpace>(reinterpret_cast<T*>(memory.data() + first),
                                             Kokkos::LayoutStride(count, stride, columns, 1)));
  }
  std::set<std::size_t> bytes() const {
    std::set<std::size_t> all;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < columns * sizeof(T); ++k) {
        all.insert(first + i * stride * sizeof(T) + k);
      }
    }
    return all;
  }
};

template <class T>
Rows<T> random_rows(std::mt19937_64& random) {
  const std::size_t columns = random() % 5;
  return {random() % 40 * 4, random() % 6, columns, random() % 8 == 0 ? 0 : columns + random() % 8};
}

}  // namespace

TEST_CASE("Views meet if and only if they have a byte in common", "") {
  std::mt19937_64 random(17);
  Bytes memory(4096);
  int met = 0, apart_inside = 0;
  for (int i = 0; i < 40000; ++i) {
    const auto a = random_rows<float>(random);
    const auto b = random_rows<std::int16_t>(random);
    const std::set<std::size_t> of_a = a.bytes(), of_b = b.bytes();
    bool shared = false;
    for (const std::size_t byte : of_b) shared = shared || of_a.contains(byte);
    const NamedRange range = a.range(memory), other = b.range(memory);
    if (range.meets(other) != shared || other.meets(range) != shared) {
      CAPTURE(a.first, a.count, a.columns, a.stride, b.first, b.count, b.columns, b.stride);
      REQUIRE(range.meets(other) == shared);
      REQUIRE(other.meets(range) == shared);
    }
    met += shared ? 1 : 0;
    const bool inside = !of_a.empty() && !of_b.empty() && *of_a.begin() < *of_b.rbegin() &&
                        *of_b.begin() < *of_a.rbegin();
    apart_inside += !shared && inside ? 1 : 0;
  }
  CHECK(met > 1000);
  CHECK(apart_inside > 1000);
}

}  // namespace tokkos::test
