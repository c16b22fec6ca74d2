// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>

#include <cstddef>
#include <cstdint>

namespace tokkos {

/// Rows of probabilities without the columns at or past the active vocabulary: those tokens do not
/// exist.
template <class Space>
Matrix<const float, Space> existing_columns(const Matrix<const float, Space>& rows,
                                            std::int64_t active) {
  if (rows.extent(0) == 0) return rows;
  return Matrix<const float, Space>(
      rows.data(),
      Kokkos::LayoutStride(rows.extent(0), rows.stride(0), static_cast<std::size_t>(active), 1));
}

}  // namespace tokkos
