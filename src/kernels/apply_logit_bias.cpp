// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "kernels/check_views.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos::detail {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct AddBias {
  using Space = MemoryOf<ExecutionSpace>;
  Matrix<Logit, Space> logits;
  LogitBiasEdits<Space> edits;
  Vector<std::int32_t, Space> row_status;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = edits.pos2seq_id(i);
    const std::int64_t token = edits.token_ids(i);
    if (row < 0 || row >= static_cast<std::int64_t>(logits.extent(0))) return;
    if (token < 0 || token >= static_cast<std::int64_t>(logits.extent(1))) {
      flag_row(row_status, row, RowStatus::invalid_edit);
      return;
    }
    const IeeeArithmetic ieee;
    Logit& logit = logits(row, token);
    const float x = widen(logit);
    const float bias = edits.logit_bias(i);
    if (!is_editable(x)) return;
    if (!(bias <= FLT_MAX)) {  // NaN or +infinity: not a bias
      flag_row(row_status, row, RowStatus::invalid_edit);
    } else if (bias < -FLT_MAX) {
      logit = narrow<Logit>(bias);
    } else {
      logit = narrow<Logit>(saturated(x + bias));
    }
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void apply_logit_bias(const ExecutionSpace& space,
                      const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                      const LogitBiasEdits<MemoryOf<ExecutionSpace>>& edits,
                      const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  const auto entries = static_cast<std::int64_t>(edits.token_ids.extent(0));
  check_matrix("logits", logits, rows, static_cast<std::int64_t>(logits.extent(1)));
  check_vector("pos2seq_id", edits.pos2seq_id, entries);
  check_vector("logit_bias", edits.logit_bias, entries);
  check_optional_vector("row_status", row_status, rows);
  if (entries == 0) return;
  Kokkos::parallel_for(
      "tokkos::apply_logit_bias::add",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(space, 0, entries),
      AddBias<ExecutionSpace, Logit>{logits, edits, row_status});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void apply_logit_bias<Space, Logit>(                                                    \
      const Space&, const Matrix<Logit, MemoryOf<Space>>&, const LogitBiasEdits<MemoryOf<Space>>&, \
      const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos::detail
