// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <type_traits>

#if KOKKOS_VERSION < 50000
#error "Tokkos needs Kokkos 5.0 or newer"
#endif

namespace tokkos {

/// The Views that kernels take: they own nothing, and any View of the same element type in the same
/// memory space converts to them. Empty (default-constructed) means "not given".
template <class T, class MemorySpace>
using Vector =
    Kokkos::View<T*, Kokkos::LayoutStride, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Rows may be padded (any row stride); a row's elements are contiguous (checked when it is used).
template <class T, class MemorySpace>
using Matrix =
    Kokkos::View<T**, Kokkos::LayoutStride, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// `count` consecutive elements as a Vector.
template <class T, class MemorySpace>
Vector<T, MemorySpace> vector_of(T* data, std::size_t count) {
  return Vector<T, MemorySpace>(data, Kokkos::LayoutStride(count, 1));
}

/// A View of rows [n, V] as a Matrix, or, with a T, as a Matrix of T.
template <class MemorySpace, class View, class T = typename View::value_type>
Matrix<T, MemorySpace> rows_of(const View& view) {
  static_assert(
      !std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>,
      "rows must be contiguous: use Kokkos::LayoutRight, or LayoutStride for padded rows");
  static_assert(std::is_convertible_v<View, Matrix<T, MemorySpace>>,
                "the View must lie in the memory space of the execution space");
  return view;
}

/// The memory that an execution space works in.
template <class ExecutionSpace>
using MemoryOf = typename ExecutionSpace::memory_space;

}  // namespace tokkos
