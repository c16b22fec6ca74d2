// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/error.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include "reference/storage_reference.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace tokkos::test {

/// A vector's copy in device memory; empty stays "not given".
template <class MemorySpace, class T>
Kokkos::View<T*, MemorySpace> on_device(const std::vector<T>& values) {
  if (values.empty()) return {};
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(),
                                                                                values.size());
  Kokkos::View<T*, MemorySpace> device("test::values", values.size());
  Kokkos::deep_copy(device, host);
  return device;
}

/// A matrix's copy in device memory, rows padded by `padding` elements.
template <class MemorySpace, class T>
Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace> on_device(const std::vector<T>& values,
                                                              std::int64_t columns,
                                                              std::int64_t padding, T canary) {
  const auto rows = columns == 0 ? 0 : static_cast<std::int64_t>(values.size()) / columns;
  Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace> device("test::matrix", rows,
                                                             columns + padding);
  const auto host = Kokkos::create_mirror_view(device);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto from = values.begin() + i * columns;
    T* row = host.data() + i * (columns + padding);
    std::copy(from, from + columns, row);
    std::fill(row + columns, row + columns + padding, canary);
  }
  Kokkos::deep_copy(device, host);
  return device;
}

/// The first `columns` columns of a padded matrix.
template <class T, class View>
Matrix<T, typename View::memory_space> without_padding(const View& view, std::int64_t columns) {
  return Kokkos::subview(view, Kokkos::ALL, std::pair<std::int64_t, std::int64_t>(0, columns));
}

/// A vector or a matrix (row after row) on the host.
template <class View>
std::vector<typename View::non_const_value_type> on_host(const View& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.size()};
}

/// The pattern in memory of a logit, widened to 32 bits.
template <LogitType Logit>
std::uint32_t pattern_in_memory(Logit logit) {
  if constexpr (std::same_as<Logit, float>) {
    return std::bit_cast<std::uint32_t>(logit);
  } else {
    return logit.bits;
  }
}

/// The pattern that a float32 must be stored as, by the format's definition.
template <LogitType Logit>
std::uint32_t pattern_of(float x) {
  if constexpr (std::same_as<Logit, float>) {
    return std::bit_cast<std::uint32_t>(x);
  } else if constexpr (std::same_as<Logit, bfloat16>) {
    return bfloat16_format.narrow(x);
  } else {
    return float16_format.narrow(x);
  }
}

/// The value that a float32 has once it is stored.
template <LogitType Logit>
float stored_value(float x) {
  if constexpr (std::same_as<Logit, float>) {
    return x;
  } else {
    return widen(Logit{static_cast<std::uint16_t>(pattern_of<Logit>(x))});
  }
}

template <LogitType Logit>
std::vector<float> stored_values(std::vector<float> values) {
  for (auto& value : values) value = stored_value<Logit>(value);
  return values;
}

/// [rows, V] logits in device memory with padded rows whose padding must stay as it is.
template <class Backend>
class LogitBlock {
 public:
  using Logit = typename Backend::logit;
  using Memory = typename Backend::memory_space;

  LogitBlock(const std::vector<float>& values, std::int64_t vocabulary, std::int64_t padding = 3)
      : m_vocabulary(vocabulary) {
    std::vector<Logit> stored(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) stored[i] = narrow<Logit>(values[i]);
    m_storage = on_device<Memory>(stored, vocabulary, padding, canary());
  }

  Matrix<Logit, Memory> logits() const { return without_padding<Logit>(m_storage, m_vocabulary); }

  /// Patterns of all logits, row after row.
  std::vector<std::uint32_t> patterns() const {
    std::vector<std::uint32_t> result;
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_storage);
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      for (std::int64_t v = 0; v < m_vocabulary; ++v) {
        result.push_back(pattern_in_memory(host(i, v)));
      }
    }
    return result;
  }

  bool padding_is_untouched() const {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_storage);
    bool untouched = true;
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      for (std::size_t v = m_vocabulary; v < host.extent(1); ++v) {
        untouched &= pattern_in_memory(host(i, v)) == pattern_in_memory(canary());
      }
    }
    return untouched;
  }

 private:
  static Logit canary() { return narrow<Logit>(-77.5f); }

  std::int64_t m_vocabulary;
  Kokkos::View<Logit**, Kokkos::LayoutRight, Memory> m_storage;
};

/// The Error that a call throws, if it does.
template <class Call>
std::optional<Error> thrown_by(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace tokkos::test
