// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/error.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <cstdint>

namespace tokkos {

/// `measure`, then `normalize`, in as few passes over memory as the backend allows; the same bits.
/// Parameters, status and errors are theirs.
template <class ExecutionSpace, LogitType Logit>
void softmax(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
             const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
             const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities,
             const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {});

namespace detail {
/// [n, 1, V] as [n, V].
template <class T, class MemorySpace, class View>
Matrix<T, MemorySpace> without_middle_extent(const View& view) {
  require(view.extent(1) == 1, "logits.extent", 1, static_cast<std::int64_t>(view.extent(1)),
          "1 (shape [n, 1, V])");
  return Kokkos::subview(view, Kokkos::ALL, 0, Kokkos::ALL);
}
}  // namespace detail

/// Softmax of logits / temperature, row by row: the seed's entry.
///
/// Temperatures up to 1e-5 share the mass equally among the maxima. Asynchronous on `space`; the
/// same bits on every backend, alone or in any batch.
/// @param logits [n, V] (or [n, 1, V]) float32, bfloat16 or float16, rows may be padded
/// @param temperature [n], or [1] for all rows
/// @param probabilities [n, V] float32; may be exactly the logits (in place)
/// @param workspace for at least n rows of V logits
/// @param row_status [n] or empty: nan_logit, positive_infinity, empty, invalid_parameter
/// @throws Error if a shape does not fit or the Views overlap otherwise (nothing is launched)
/// Source: the seed's function of the same name, without its rounding of scaled maxima.
template <class ExecutionSpace, LogitType Logit, class... P>
void softmax_with_temperature(
    const ExecutionSpace& space, const Kokkos::View<Logit**, P...>& logits,
    const Vector<const float, MemoryOf<ExecutionSpace>>& temperature,
    const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities,
    const Workspace<MemoryOf<ExecutionSpace>>& workspace,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  LogitRows<Logit, MemoryOf<ExecutionSpace>> rows;
  rows.logits = logits;
  rows.temperature = temperature;
  softmax(space, rows, workspace.measures(rows.rows()), probabilities, row_status);
}

template <class ExecutionSpace, LogitType Logit, class... P, class... Q>
void softmax_with_temperature(
    const ExecutionSpace& space, const Kokkos::View<Logit***, P...>& logits,
    const Vector<const float, MemoryOf<ExecutionSpace>>& temperature,
    const Kokkos::View<float***, Q...>& probabilities,
    const Workspace<MemoryOf<ExecutionSpace>>& workspace,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  using Space = MemoryOf<ExecutionSpace>;
  const Matrix<Logit, Space> flat = detail::without_middle_extent<Logit, Space>(logits);
  softmax_with_temperature(space, flat, temperature,
                           detail::without_middle_extent<float, Space>(probabilities), workspace,
                           row_status);
}

}  // namespace tokkos
