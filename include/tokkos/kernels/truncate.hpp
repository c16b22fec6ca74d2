// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/owned_view.hpp>
#include <tokkos/batch/truncation.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <cstddef>
#include <cstdint>

namespace tokkos {

/// Bytes of device memory that a CutsWorkspace for `max_rows` rows takes: 20 a row.
std::size_t cuts_workspace_bytes(std::int64_t max_rows);

/// Owner of the memory in which RowCuts live. Made once, used for every step; a step of fewer rows
/// uses a part of it. Not to be shared by kernels on different execution space instances.
template <class MemorySpace>
class CutsWorkspace {
 public:
  /// Allocates cuts_workspace_bytes(max_rows).
  /// @throws Error if max_rows is not in [0, 2^31), or Kokkos is not initialized.
  explicit CutsWorkspace(std::int64_t max_rows);

  /// Views for `rows` rows. @throws Error if rows is not in [0, max_rows], or after
  /// Kokkos::finalize.
  RowCuts<MemorySpace> cuts(std::int64_t rows) const;

  /// Most rows that cuts() gives Views for.
  std::int64_t max_rows() const { return m_max_rows; }

 private:
  std::int64_t m_max_rows;
  OwnedView<Kokkos::View<std::int64_t*, MemorySpace>> m_masses;
  OwnedView<Kokkos::View<float*, MemorySpace>> m_logits;
  OwnedView<Kokkos::View<std::int32_t*, MemorySpace>> m_numbers;
};

/// Finds where top-k, top-p and min-p end each row, after `measure` of the same rows, without
/// sorting them. top-k keeps the first tokens in the order of RowCuts; top-p, of those, the
/// shortest prefix whose mass reaches ceil(top_p * their mass), exactly; min-p, of those, the ones
/// with exp((x - maximum) / T) >= min_p.
///
/// Asynchronous on `space`; allocates nothing. Masses are integers: the result is the same bits on
/// every backend, alone or in any batch.
/// @param rows n rows, as they were measured
/// @param measures as `measure` left them; a row with a bad parameter becomes unusable in them
///   (nothing else is made of it), other rows are only read
/// @param truncation see there
/// @param cuts written
/// @param row_status [n] or empty; the bit invalid_parameter is ORed into it, and `empty` where the
///   logits are no longer those that were measured and no token is found
/// @throws Error if a shape does not fit or an output overlaps another View (nothing is launched)
template <class ExecutionSpace, LogitType Logit>
void truncate(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
              const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
              const Truncation<MemoryOf<ExecutionSpace>>& truncation,
              const RowCuts<MemoryOf<ExecutionSpace>>& cuts,
              const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {});

}  // namespace tokkos
