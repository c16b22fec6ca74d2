// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tokkos {

/// Numbers that a caller keeps as int32 or as int64, in the host's memory: a vector, array or span
/// of either converts to it. Like a span it owns nothing. On a device IndexVector is the same.
class IndexSpan {
 public:
  /// The numbers as int32.
  using Narrow = std::span<const std::int32_t>;
  /// The numbers as int64.
  using Wide = std::span<const std::int64_t>;

  IndexSpan() = default;

  /// From int32 numbers.
  template <class Range>
  requires std::is_convertible_v<const Range&, Narrow> IndexSpan(const Range& range)
      : m_narrow(range) {}

  /// From int64 numbers.
  template <class Range>
  requires std::is_convertible_v<const Range&, Wide> IndexSpan(const Range& range)
      : m_wide(range) {}

  /// Number i, i < size().
  std::int64_t operator[](std::size_t i) const {
    return m_wide.data() != nullptr ? m_wide[i] : std::int64_t{m_narrow[i]};
  }

  /// How many numbers there are.
  std::size_t size() const { return m_wide.data() != nullptr ? m_wide.size() : m_narrow.size(); }

  /// `count` numbers from place `first` on.
  IndexSpan subspan(std::size_t first, std::size_t count) const {
    if (m_wide.data() != nullptr) return m_wide.subspan(first, count);
    return m_narrow.subspan(first, count);
  }

 private:
  Narrow m_narrow;
  Wide m_wide;
};

}  // namespace tokkos
