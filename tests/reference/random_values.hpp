// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tokkos::test {

/// The same values with every standard library: only the engine is taken from it.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : m_engine(seed) {}

  /// An integer in [0, end).
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(m_engine() % static_cast<std::uint64_t>(end));
  }

  /// A multiple of 2^-24 in [0, 1).
  float uniform() { return static_cast<float>(m_engine() >> 40) * 0x1p-24f; }

  /// Logits like a model's: a bell of width `scale` around `center`.
  std::vector<float> logits(std::int64_t count, float scale = 4.0f, float center = 0.0f) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (auto& value : values) {
      float sum = -4.0f;
      for (int i = 0; i < 8; ++i) sum += uniform();
      value = center + scale * 1.2f * sum;
    }
    return values;
  }

  /// Bitmask words in which about one bit in `one_in` is set.
  std::vector<std::int32_t> words(std::int64_t count, int one_in = 2) {
    std::vector<std::int32_t> words(static_cast<std::size_t>(count));
    for (auto& word : words) {
      std::uint32_t bits = 0;
      for (int b = 0; b < 32; ++b) bits |= (m_engine() % one_in == 0 ? 1u : 0u) << b;
      word = static_cast<std::int32_t>(bits);
    }
    return words;
  }

  std::vector<float> uniforms(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (auto& value : values) value = uniform();
    return values;
  }

 private:
  std::mt19937_64 m_engine;
};

}  // namespace tokkos::test
