// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>

#include "kernels/check_views.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos::detail {

namespace {

/// The seed's penalty of one logit: additive first, then multiplicative.
KOKKOS_FORCEINLINE_FUNCTION float penalized(float x, float presence, float frequency,
                                            float repetition, std::int32_t count) {
  const float t = static_cast<float>(count) * frequency;
  const float y = x - (presence + t);
  return y < 0.0f ? y * repetition : y / repetition;
}

template <class ExecutionSpace, LogitType Logit>
struct Penalize {
  using Space = MemoryOf<ExecutionSpace>;
  Matrix<Logit, Space> logits;
  PenaltyEdits<Space> edits;
  Vector<std::int32_t, Space> row_status;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t c = edits.pos2seq_id(i);
    if (c < 0 || c >= static_cast<std::int64_t>(edits.seq_ids.extent(0))) return;
    const std::int64_t row = edits.seq_ids(c);
    if (row < 0 || row >= static_cast<std::int64_t>(logits.extent(0))) return;
    const std::int64_t token = edits.token_ids(i);
    const float presence = edits.penalties(c, 0);
    const float frequency = edits.penalties(c, 1);
    const float repetition = edits.penalties(c, 2);
    const bool finite = Kokkos::fabs(presence) <= FLT_MAX && Kokkos::fabs(frequency) <= FLT_MAX;
    const IeeeArithmetic ieee;
    if (token < 0 || token >= static_cast<std::int64_t>(logits.extent(1)) || !finite ||
        !(repetition > 0.0f && repetition <= FLT_MAX)) {
      flag_row(row_status, row, RowStatus::invalid_edit);
      return;
    }
    if (presence == 0.0f && frequency == 0.0f && repetition == 1.0f) return;
    Logit& logit = logits(row, token);
    const float x = widen(logit);
    if (!is_editable(x)) return;
    logit =
        narrow<Logit>(saturated(penalized(x, presence, frequency, repetition, edits.token_cnt(i))));
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void apply_penalty(const ExecutionSpace& space,
                   const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                   const PenaltyEdits<MemoryOf<ExecutionSpace>>& edits,
                   const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  const auto entries = static_cast<std::int64_t>(edits.token_ids.extent(0));
  check_matrix("logits", logits, rows, static_cast<std::int64_t>(logits.extent(1)));
  check_vector("pos2seq_id", edits.pos2seq_id, entries);
  check_vector("token_cnt", edits.token_cnt, entries);
  check_optional_vector("row_status", row_status, rows);
  if (entries == 0) return;
  check_matrix("penalties", edits.penalties, static_cast<std::int64_t>(edits.seq_ids.extent(0)), 3);
  Kokkos::parallel_for(
      "tokkos::apply_penalty::penalize",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(space, 0, entries),
      Penalize<ExecutionSpace, Logit>{logits, edits, row_status});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                         \
  template void apply_penalty<Space, Logit>(const Space&, const Matrix<Logit, MemoryOf<Space>>&, \
                                            const PenaltyEdits<MemoryOf<Space>>&,                \
                                            const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos::detail
