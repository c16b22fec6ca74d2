// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace tokkos::test {

/// 64-bit FNV-1a over results as little-endian bytes. Every NaN counts as the same: only which
/// values are NaN is promised, not their payload.
class ResultHash {
 public:
  template <class T>
  ResultHash& add(const std::vector<T>& values) {
    for (const T value : values) {
      if constexpr (std::is_same_v<T, float>) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        add_bytes((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits, 4);
      } else {
        static_assert(std::is_integral_v<T>);
        add_bytes(static_cast<std::uint64_t>(value), sizeof(T));
      }
    }
    return *this;
  }

  std::uint64_t value() const { return m_value; }

 private:
  void add_bytes(std::uint64_t bits, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      m_value = (m_value ^ ((bits >> (8 * i)) & 0xffu)) * 0x100000001b3u;
    }
  }

  std::uint64_t m_value = 0xcbf29ce484222325u;
};

}  // namespace tokkos::test
