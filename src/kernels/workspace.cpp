// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/workspace.hpp>

#include "kernels/check_views.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos {

namespace {

void check(std::int64_t max_rows, std::int64_t vocabulary) {
  require(max_rows >= 0 && max_rows <= 2147483647, "max_rows", std::nullopt, max_rows,
          "a number in [0, 2147483647]");
  require(vocabulary >= 1 && vocabulary <= max_vocabulary, "vocabulary", std::nullopt, vocabulary,
          "a vocabulary in [1, 2147483647]");
}

std::size_t elements(std::int64_t max_rows, std::int64_t vocabulary) {
  check(max_rows, vocabulary);
  if (!Kokkos::is_initialized()) {
    throw Error("Kokkos", std::nullopt, "not initialized", "Kokkos::initialize before");
  }
  return static_cast<std::size_t>(max_rows * (chunk_count(vocabulary) + 1));
}

}  // namespace

std::size_t workspace_bytes(std::int64_t max_rows, std::int64_t vocabulary) {
  check(max_rows, vocabulary);
  return static_cast<std::size_t>(max_rows * (chunk_count(vocabulary) + 1)) *
         (sizeof(std::int64_t) + sizeof(float));
}

template <class MemorySpace>
Workspace<MemorySpace>::Workspace(std::int64_t max_rows, std::int64_t vocabulary)
    : m_max_rows(max_rows),
      m_vocabulary(vocabulary),
      m_sums(Kokkos::View<std::int64_t*, MemorySpace>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::workspace::sums"),
          elements(max_rows, vocabulary))),
      m_maxima(Kokkos::View<float*, MemorySpace>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "tokkos::workspace::maxima"),
          elements(max_rows, vocabulary))) {}

template <class MemorySpace>
RowMeasures<MemorySpace> Workspace<MemorySpace>::measures(std::int64_t rows) const {
  require(rows >= 0 && rows <= m_max_rows, "rows", std::nullopt, rows,
          "a number of rows that the workspace was made for");
  const auto n = static_cast<std::size_t>(rows);
  const auto chunks = static_cast<std::size_t>(chunk_count(m_vocabulary));
  const Kokkos::LayoutStride layout(n, chunks, chunks, 1);
  float* maxima = m_maxima.get().data();
  std::int64_t* sums = m_sums.get().data();
  if (sums == nullptr && rows > 0) {
    throw Error("Kokkos", std::nullopt, "finalized, or the workspace was moved from",
                "a workspace that owns its memory");
  }
  using Maxima = Matrix<float, MemorySpace>;
  using Sums = Matrix<std::int64_t, MemorySpace>;
  return {Maxima(maxima, layout), Sums(sums, layout),
          vector_of<float, MemorySpace>(maxima + n * chunks, n),
          vector_of<std::int64_t, MemorySpace>(sums + n * chunks, n)};
}

#define TOKKOS_INSTANTIATE(Space) template class Workspace<Space>;
TOKKOS_FOR_EACH_MEMORY_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
