// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace tokkos::test {

/// A device array between two guard zones, its rows padded by guards as well.
template <class T, class MemorySpace>
class Guarded {
 public:
  Guarded(std::size_t rows, std::size_t columns, std::size_t padding, std::span<const T> values)
      : m_rows(rows),
        m_columns(columns),
        m_stride(columns + padding),
        m_device("tokkos::test::guarded", rows * m_stride + 2 * zone) {
    Host host = Kokkos::create_mirror_view(m_device);
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i) = canary();
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        host(zone + r * m_stride + c) = values.empty() ? T{} : values[r * columns + c];
      }
    }
    Kokkos::deep_copy(m_device, host);
  }
  explicit Guarded(std::span<const T> values) : Guarded(values.size(), 1, 0, values) {}
  explicit Guarded(std::size_t size) : Guarded(size, 1, 0, {}) {}

  Vector<T, MemorySpace> vector() const {
    return vector_of<T, MemorySpace>(m_device.data() + zone, m_rows);
  }
  Matrix<T, MemorySpace> matrix() const {
    return Matrix<T, MemorySpace>(m_device.data() + zone,
                                  Kokkos::LayoutStride(m_rows, m_stride, m_columns, 1));
  }

  /// The values now; sets guards_intact() to false if something was written beside them.
  std::vector<T> values() {
    Host host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_device);
    std::vector<T> result;
    result.reserve(m_rows * m_columns);
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      const bool inside = i >= zone && i < zone + m_rows * m_stride;
      if (inside && (i - zone) % m_stride < m_columns) {
        result.push_back(host(i));
      } else if (!is_canary(host(i))) {
        m_guards_intact = false;
      }
    }
    return result;
  }
  bool guards_intact() const { return m_guards_intact; }

 private:
  using Device = Kokkos::View<T*, MemorySpace>;
  using Host = typename Device::host_mirror_type;
  static constexpr std::size_t zone = 64;
  static T canary() {
    T value;
    std::memset(&value, 0xA5, sizeof(T));
    return value;
  }
  static bool is_canary(const T& value) {
    const T expected = canary();
    return std::memcmp(&value, &expected, sizeof(T)) == 0;
  }

  std::size_t m_rows, m_columns, m_stride;
  Device m_device;
  bool m_guards_intact = true;
};

}  // namespace tokkos::test
