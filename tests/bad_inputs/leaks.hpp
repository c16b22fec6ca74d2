// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/kernels/workspace.hpp>

#include "backends.hpp"
#include "bad_inputs/failing_allocations.hpp"
#include "lost_by_kokkos.hpp"

#include <cstdint>
#include <tuple>
#include <type_traits>

namespace tokkos::test {

template <class Space>
using IfHost = std::conditional_t<
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible &&
        Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible,
    std::tuple<Space>, std::tuple<>>;

template <class... Spaces>
auto hosts_of(std::tuple<Spaces...>) -> decltype(std::tuple_cat(IfHost<Spaces>{}...));

/// Those on which memory of Views is allocated as any other.
using HostSpaces = decltype(hosts_of(ExecutionSpaces{}));

/// Allocations that are not given back. What the library notes of an object that is gone, it drops
/// when the next one is made.
template <class Memory>
std::int64_t settled_allocations() {
  { const Workspace<Memory> next(1, 1); }
  return live_allocations();
}

/// Whether nothing leaked, but for what Kokkos loses itself.
inline bool is_accounted_for(std::int64_t leaked, const FailedAllocation& failed) {
  return leaked == 0 || leaked == failed.lost_by_kokkos;
}

}  // namespace tokkos::test
