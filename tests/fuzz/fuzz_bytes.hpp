// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <span>

namespace tokkos::test {

/// The bytes of a fuzzer as choices. Past their end every choice is the first one, which is always
/// a harmless one.
class FuzzBytes {
 public:
  explicit FuzzBytes(std::span<const std::uint8_t> bytes) : m_bytes(bytes) {}

  std::uint8_t byte() { return m_next < m_bytes.size() ? m_bytes[m_next++] : 0; }
  std::uint16_t word() {
    const auto low = byte();
    return static_cast<std::uint16_t>(low | byte() << 8);
  }
  std::uint32_t number() {
    const auto low = word();
    return low | static_cast<std::uint32_t>(word()) << 16;
  }

  /// A number in [0, n), 0 < n <= 256.
  int below(int n) { return byte() % n; }
  /// True for one byte in 32.
  bool rarely() { return byte() >= 248; }
  bool flag() { return byte() % 2 == 1; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[byte() % choices.size()];
  }
  /// One of the good values, rarely one of the bad ones.
  template <class T>
  T mostly(std::initializer_list<T> good, std::initializer_list<T> bad) {
    return rarely() ? one_of(bad) : one_of(good);
  }
  std::span<const std::uint8_t> rest() {
    const auto left = m_bytes.subspan(m_next);
    m_next = m_bytes.size();
    return left;
  }

 private:
  std::span<const std::uint8_t> m_bytes;
  std::size_t m_next = 0;
};

/// Ends the process where something that must hold does not.
inline void expect(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "fuzzing: expected that %s\n", what);
  std::abort();
}

}  // namespace tokkos::test
