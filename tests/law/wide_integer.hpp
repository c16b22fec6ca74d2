// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace tokkos::test {

/// A whole number in [0, 2^640), the numerator of an exact probability. What leaves that range
/// throws.
class WideInteger {
 public:
  WideInteger(std::uint64_t value = 0) {
    m_digits[0] = value & digit_mask;
    m_digits[1] = value >> digit_bits;
  }

  WideInteger& operator+=(const WideInteger& other) {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      carry += m_digits[i] + other.m_digits[i];
      m_digits[i] = carry & digit_mask;
      carry >>= digit_bits;
    }
    if (carry != 0) throw std::overflow_error("a sum of 2^640 or more");
    return *this;
  }

  WideInteger& operator-=(const WideInteger& other) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const std::uint64_t difference = m_digits[i] - other.m_digits[i] - borrow;
      m_digits[i] = difference & digit_mask;
      borrow = difference >> 63;
    }
    if (borrow != 0) throw std::overflow_error("a difference below 0");
    return *this;
  }

  WideInteger& operator*=(std::uint64_t factor) {
    WideInteger high = *this;
    multiply(factor & digit_mask);
    if (factor >> digit_bits == 0) return *this;
    high.multiply(factor >> digit_bits);
    if (high.m_digits.back() != 0) throw std::overflow_error("a product of 2^640 or more");
    for (std::size_t i = digits - 1; i > 0; --i) high.m_digits[i] = high.m_digits[i - 1];
    high.m_digits[0] = 0;
    return *this += high;
  }

  friend WideInteger operator*(WideInteger a, std::uint64_t factor) { return a *= factor; }
  friend bool operator==(const WideInteger&, const WideInteger&) = default;
  friend std::strong_ordering operator<=>(const WideInteger& a, const WideInteger& b) {
    for (std::size_t i = digits; i-- > 0;) {
      if (a.m_digits[i] != b.m_digits[i]) return a.m_digits[i] <=> b.m_digits[i];
    }
    return std::strong_ordering::equal;
  }

  /// |a - b|
  friend WideInteger distance(const WideInteger& a, const WideInteger& b) {
    WideInteger result = a < b ? b : a;
    return result -= a < b ? a : b;
  }

  /// a / b, to the precision of double.
  friend double ratio(const WideInteger& a, const WideInteger& b) {
    return a.to_double() / b.to_double();
  }

 private:
  static constexpr std::size_t digits = 20;
  static constexpr int digit_bits = 32;
  static constexpr std::uint64_t digit_mask = 0xffffffff;

  void multiply(std::uint64_t digit) {
    std::uint64_t carry = 0;
    for (std::uint64_t& own : m_digits) {
      carry += own * digit;
      own = carry & digit_mask;
      carry >>= digit_bits;
    }
    if (carry != 0) throw std::overflow_error("a product of 2^640 or more");
  }

  double to_double() const {
    double value = 0;
    for (std::size_t i = digits; i-- > 0;) {
      value = std::ldexp(value, digit_bits) + static_cast<double>(m_digits[i]);
    }
    return value;
  }

  std::array<std::uint64_t, digits> m_digits = {};  // 32 bits each, lowest first
};

}  // namespace tokkos::test
