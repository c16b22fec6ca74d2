// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>
#include <string_view>

namespace tokkos {

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011):
/// a stateless random generator. The same key and counter give the same words everywhere.
struct Philox {
  std::uint32_t word[4];  ///< what is drawn

  /// Ten rounds of the counter (c0, c1, c2, c3) under the key.
  KOKKOS_FUNCTION Philox(std::uint64_t key, std::uint32_t c0, std::uint32_t c1, std::uint32_t c2,
                         std::uint32_t c3)
      : word{c0, c1, c2, c3} {
    auto k0 = static_cast<std::uint32_t>(key);
    auto k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * word[0];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * word[2];
      const auto next0 = static_cast<std::uint32_t>(p1 >> 32) ^ word[1] ^ k0;
      const auto next2 = static_cast<std::uint32_t>(p0 >> 32) ^ word[3] ^ k1;
      word[0] = next0;
      word[1] = static_cast<std::uint32_t>(p1);
      word[2] = next2;
      word[3] = static_cast<std::uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
  }
};

/// What a uniform is for: draws for different purposes are independent.
enum class Purpose : std::uint32_t { sample = 0, draft = 1, verify = 2, bonus = 3 };

/// A uniform in [0, 1), a multiple of 2^-24: key `seed`, counter (position, draw, purpose, stream).
/// @param position number of tokens generated before this one (plus the depth of a draft node)
/// @param draw number of the draw at that position, or the draft node
/// @param stream the request's own number, never its row (default: request_stream of its id)
KOKKOS_INLINE_FUNCTION float philox_uniform(std::uint64_t seed, std::uint32_t position,
                                            std::uint32_t draw, Purpose purpose,
                                            std::uint32_t stream) {
  const Philox words(seed, position, draw, static_cast<std::uint32_t>(purpose), stream);
  return static_cast<float>(words.word[0] >> 8) * 0x1p-24f;
}

/// A request's default stream: the 32-bit FNV-1a hash of its id.
constexpr std::uint32_t request_stream(std::string_view id) {
  std::uint32_t hash = 0x811C9DC5u;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return hash;
}

}  // namespace tokkos
