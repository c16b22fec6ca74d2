// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/error.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <cstdint>
#include <type_traits>

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
template <class View>
auto without_middle_extent(const char* extent, const View& view) {
  require(view.extent(1) == 1, extent, 1, static_cast<std::int64_t>(view.extent(1)),
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
template <class ExecutionSpace, class Element, class... P>
void softmax_with_temperature(
    const ExecutionSpace& space, const Kokkos::View<Element**, P...>& logits,
    const Vector<const float, MemoryOf<ExecutionSpace>>& temperature,
    const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities,
    const Workspace<MemoryOf<ExecutionSpace>>& workspace,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  using Logit = std::remove_const_t<Element>;
  static_assert(LogitType<Logit>, "logits are float, tokkos::bfloat16 or tokkos::float16");
  LogitRows<Logit, MemoryOf<ExecutionSpace>> rows;
  rows.logits = rows_of<MemoryOf<ExecutionSpace>>(logits);
  rows.temperature = temperature;
  softmax(space, rows, workspace.measures(rows.rows()), probabilities, row_status);
}

/// The same of the seed's shapes: logits and probabilities [n, 1, V].
template <class ExecutionSpace, class Element, class... P, class... Q>
void softmax_with_temperature(
    const ExecutionSpace& space, const Kokkos::View<Element***, P...>& logits,
    const Vector<const float, MemoryOf<ExecutionSpace>>& temperature,
    const Kokkos::View<float***, Q...>& probabilities,
    const Workspace<MemoryOf<ExecutionSpace>>& workspace,
    const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status = {}) {
  softmax_with_temperature(
      space, detail::without_middle_extent("logits.extent", logits), temperature,
      detail::without_middle_extent("probabilities.extent", probabilities), workspace, row_status);
}

}  // namespace tokkos
