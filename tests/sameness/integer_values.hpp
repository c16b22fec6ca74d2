// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tokkos::test {

/// Random inputs from integers alone (Steele, Lea, Flood: splitmix64, 2014): the same bits with
/// every compiler, library and floating-point mode. What is scaled is scaled by powers of two.
class IntegerValues {
 public:
  explicit IntegerValues(std::uint64_t seed) : m_state(seed * 0x9e3779b97f4a7c15u + 1) {}

  std::uint64_t word() {
    m_state += 0x9e3779b97f4a7c15u;
    std::uint64_t z = m_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// An integer in [0, end).
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>((word() >> 1) % static_cast<std::uint64_t>(end));
  }

  /// A multiple of 2^-24 in [0, 1).
  float uniform() { return static_cast<float>(word() >> 40) * 0x1p-24f; }

  std::vector<float> uniforms(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (auto& value : values) value = uniform();
    return values;
  }

  /// An integer in (-2^17, 2^17) with the bell of a sum of four, its deviation about 37837.
  std::int32_t bell() {
    const std::uint64_t w = word();
    const auto lane = [w](int i) { return static_cast<std::int32_t>((w >> (16 * i)) & 0xffffu); };
    return lane(0) + lane(1) + lane(2) + lane(3) - 2 * 0xffff;
  }

  /// `count` words in which about one bit in 2^thinner is set.
  std::vector<std::int32_t> words(std::int64_t count, int thinner) {
    std::vector<std::int32_t> words(static_cast<std::size_t>(count));
    for (auto& one : words) {
      std::uint32_t bits = ~0u;
      for (int i = 0; i < thinner; ++i) bits &= static_cast<std::uint32_t>(word() >> 32);
      one = static_cast<std::int32_t>(bits);
    }
    return words;
  }

 private:
  std::uint64_t m_state;
};

/// The bits of a float32.
inline std::uint32_t pattern(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

}  // namespace tokkos::test
