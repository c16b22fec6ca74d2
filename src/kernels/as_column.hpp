// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>

namespace tokkos {

/// A vector as a matrix of one column.
template <class T, class Space>
Matrix<T, Space> as_column(const Vector<T, Space>& vector) {
  const std::size_t stride = vector.extent(0) > 1 ? vector.stride(0) : 1;
  return Matrix<T, Space>(vector.data(), Kokkos::LayoutStride(vector.extent(0), stride, 1, 1));
}

}  // namespace tokkos
