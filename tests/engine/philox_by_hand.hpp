// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tokkos::test {

/// Philox4x32-10 from its paper: ten rounds of two 32 x 32 bit products, with the key bumped
/// between rounds. Returns word 0 as a multiple of 2^-24 in [0, 1).
inline float philox_by_hand(std::uint64_t seed, std::uint32_t position, std::uint32_t draw,
                            std::uint32_t purpose, std::uint32_t stream) {
  std::uint64_t a = position, b = draw, c = purpose, d = stream;
  std::uint64_t key_a = seed & 0xffffffffu, key_b = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t x = a * 0xD2511F53u, y = c * 0xCD9E8D57u;
    a = (y >> 32) ^ b ^ key_a;
    b = y & 0xffffffffu;
    c = (x >> 32) ^ d ^ key_b;
    d = x & 0xffffffffu;
    key_a = (key_a + 0x9E3779B9u) & 0xffffffffu;
    key_b = (key_b + 0xBB67AE85u) & 0xffffffffu;
  }
  return static_cast<float>(a >> 8) / 16777216.0f;
}

/// 32-bit FNV-1a.
inline std::uint32_t fnv_by_hand(const std::string& text) {
  std::uint64_t hash = 2166136261u;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash = hash * 16777619u % 4294967296u;
  }
  return static_cast<std::uint32_t>(hash);
}

}  // namespace tokkos::test
