// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tokkos {

/// Numbers that a caller keeps as int32 or as int64: a View of either converts to it, and kernels
/// read both. Like a Vector it owns nothing, and empty means "not given".
template <class MemorySpace>
class IndexVector {
 public:
  /// The numbers as int32, and as int64.
  using Narrow = Vector<const std::int32_t, MemorySpace>;
  /// See Narrow.
  using Wide = Vector<const std::int64_t, MemorySpace>;

  IndexVector() = default;

  /// From a View of int32.
  template <class View>
  requires std::is_convertible_v<const View&, Narrow> IndexVector(const View& view)
      : m_narrow(view) {}

  /// From a View of int64.
  template <class View>
  requires std::is_convertible_v<const View&, Wide> IndexVector(const View& view) : m_wide(view) {}

  /// Number i, i < size().
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return m_wide.data() != nullptr ? m_wide(i) : std::int64_t{m_narrow(i)};
  }

  /// Whether numbers were given, of either width.
  KOKKOS_FORCEINLINE_FUNCTION bool is_given() const {
    return m_narrow.data() != nullptr || m_wide.data() != nullptr;
  }

  /// The numbers as they were given; empty in the other width.
  const Narrow& narrow() const { return m_narrow; }
  /// See narrow().
  const Wide& wide() const { return m_wide; }

  /// How many numbers there are; 0 if none were given.
  std::size_t size() const {
    return m_wide.data() != nullptr ? m_wide.extent(0) : m_narrow.extent(0);
  }

 private:
  Narrow m_narrow;
  Wide m_wide;
};

}  // namespace tokkos
