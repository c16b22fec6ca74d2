// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// The Views that kernels take: they own nothing, and any View of the same element type in the same
/// memory space converts to them. Empty (default-constructed) means "not given".
template <class T, class MemorySpace>
using Vector =
    Kokkos::View<T*, Kokkos::LayoutRight, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Rows may be padded (any row stride); a row's elements are contiguous (checked when it is used).
template <class T, class MemorySpace>
using Matrix =
    Kokkos::View<T**, Kokkos::LayoutStride, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The memory that an execution space works in.
template <class ExecutionSpace>
using MemoryOf = typename ExecutionSpace::memory_space;

}  // namespace tokkos
