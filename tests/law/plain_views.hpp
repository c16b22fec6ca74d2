// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace tokkos::test {

/// Views of plain arrays, for thousands of small calls on Serial: Kokkos fills Views of its own by
/// the threads of the default execution space.
template <class T>
Vector<T, Kokkos::HostSpace> vector_on(std::vector<std::remove_const_t<T>>& values) {
  return vector_of<T, Kokkos::HostSpace>(values.data(), values.size());
}

/// Rows of `width` numbers; an array without any is not given.
template <class T>
Matrix<T, Kokkos::HostSpace> matrix_on(std::vector<std::remove_const_t<T>>& values,
                                       std::size_t width) {
  if (values.empty()) return {};
  const Kokkos::LayoutStride layout(values.size() / width, width, width, 1);
  return Matrix<T, Kokkos::HostSpace>(values.data(), layout);
}

}  // namespace tokkos::test
