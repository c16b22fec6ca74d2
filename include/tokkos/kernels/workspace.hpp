// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/owned_view.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/numerics/chunk.hpp>

#include <cstddef>
#include <cstdint>

namespace tokkos {

/// What `measure` finds out about n rows of vocabulary V: 12 bytes for every 4096 logits and 12 for
/// every row. Non-owning; see Workspace.
template <class MemorySpace>
struct RowMeasures {
  Matrix<float, MemorySpace> chunk_maximum;     ///< [n, chunk_count(V)]
  Matrix<std::int64_t, MemorySpace> chunk_sum;  ///< [n, chunk_count(V)], see ChunkPair
  Vector<float, MemorySpace> row_maximum;       ///< [n], see RowTotal
  Vector<std::int64_t, MemorySpace> row_mass;   ///< [n], see RowTotal
};

/// Bytes of device memory that a Workspace for `max_rows` rows of `vocabulary` logits takes.
std::size_t workspace_bytes(std::int64_t max_rows, std::int64_t vocabulary);

/// Owner of the memory in which RowMeasures live. Made once, used for every step; a step of fewer
/// rows uses a part of it. Not to be shared by kernels on different execution space instances.
template <class MemorySpace>
class Workspace {
 public:
  /// Allocates workspace_bytes(max_rows, vocabulary).
  /// @throws Error if max_rows < 0, vocabulary is not in [1, 2^31), or Kokkos is not initialized.
  Workspace(std::int64_t max_rows, std::int64_t vocabulary);

  /// Views for `rows` rows. @throws Error if rows is not in [0, max_rows], or after
  /// Kokkos::finalize.
  RowMeasures<MemorySpace> measures(std::int64_t rows) const;

  /// Most rows that measures() gives Views for.
  std::int64_t max_rows() const { return m_max_rows; }
  /// V, the row length that it was made for.
  std::int64_t vocabulary() const { return m_vocabulary; }

 private:
  std::int64_t m_max_rows;
  std::int64_t m_vocabulary;
  OwnedView<Kokkos::View<std::int64_t*, MemorySpace>> m_sums;
  OwnedView<Kokkos::View<float*, MemorySpace>> m_maxima;
};

}  // namespace tokkos
