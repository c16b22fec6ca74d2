// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/kernels/truncate.hpp>

#include "kernels/instantiate.hpp"

namespace tokkos {

namespace {

void check(std::int64_t max_rows) {
  require(max_rows >= 0 && max_rows <= 2147483647, "max_rows", std::nullopt, max_rows,
          "a number in [0, 2147483647]");
}

std::size_t elements(std::int64_t max_rows) {
  check(max_rows);
  if (!Kokkos::is_initialized()) {
    throw Error("Kokkos", std::nullopt, "not initialized", "Kokkos::initialize before");
  }
  return static_cast<std::size_t>(max_rows);
}

}  // namespace

std::size_t cuts_workspace_bytes(std::int64_t max_rows) {
  check(max_rows);
  constexpr std::size_t row = sizeof(std::int64_t) + sizeof(float) + 2 * sizeof(std::int32_t);
  return static_cast<std::size_t>(max_rows) * row;
}

template <class MemorySpace>
CutsWorkspace<MemorySpace>::CutsWorkspace(std::int64_t max_rows)
    : m_max_rows(max_rows),
      m_masses(Kokkos::View<std::int64_t*, MemorySpace>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::cuts_workspace::masses"),
          elements(max_rows))),
      m_logits(Kokkos::View<float*, MemorySpace>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::cuts_workspace::logits"),
          elements(max_rows))),
      m_numbers(Kokkos::View<std::int32_t*, MemorySpace>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::cuts_workspace::numbers"),
          2 * elements(max_rows))) {}

template <class MemorySpace>
RowCuts<MemorySpace> CutsWorkspace<MemorySpace>::cuts(std::int64_t rows) const {
  require(rows >= 0 && rows <= m_max_rows, "rows", std::nullopt, rows,
          "a number of rows that the workspace was made for");
  const auto n = static_cast<std::size_t>(rows);
  std::int32_t* numbers = m_numbers.get().data();
  if (numbers == nullptr && rows > 0) {
    throw Error("Kokkos", std::nullopt, "finalized, or the workspace was moved from",
                "a workspace that owns its memory");
  }
  return {vector_of<float, MemorySpace>(m_logits.get().data(), n),
          vector_of<std::int32_t, MemorySpace>(numbers, n),
          vector_of<std::int64_t, MemorySpace>(m_masses.get().data(), n),
          vector_of<std::int32_t, MemorySpace>(numbers + n, n)};
}

#define TOKKOS_INSTANTIATE(Space) template class CutsWorkspace<Space>;
TOKKOS_FOR_EACH_MEMORY_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
