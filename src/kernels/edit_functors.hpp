// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include "kernels/edit_logit.hpp"

#include <Kokkos_Core.hpp>

#include <cfloat>
#include <cstdint>

// What is done to one logit by launch_entries: alone in `apply_logit_bias` and `apply_penalty`,
// together in `apply_edits`.

namespace tokkos::detail {

/// Adds a bias that is finite or -infinity to a stored logit.
template <LogitType Logit>
KOKKOS_FORCEINLINE_FUNCTION void add_bias(Logit& logit, float bias) {
  const float x = widen(logit);
  if (!is_editable(x)) return;
  logit = narrow<Logit>(bias < -FLT_MAX ? bias : saturated(x + bias));
}

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
    const float bias = edits.logit_bias(i);
    if (!(bias <= FLT_MAX)) {  // NaN or +infinity: not a bias
      flag_row(row_status, row, RowStatus::invalid_edit);
    } else {
      add_bias(logits(row, token), bias);
    }
  }
};

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
    const std::int32_t count = edits.token_cnt(i);
    const bool finite = Kokkos::fabs(presence) <= FLT_MAX && Kokkos::fabs(frequency) <= FLT_MAX;
    if (token < 0 || token >= static_cast<std::int64_t>(logits.extent(1)) || !finite ||
        !(repetition > 0.0f && repetition <= FLT_MAX) || count < 1) {
      flag_row(row_status, row, RowStatus::invalid_edit);
      return;
    }
    if (edits.biases.data() != nullptr) {
      const float bias = edits.biases(i);
      if (bias <= FLT_MAX) add_bias(logits(row, token), bias);
    }
    if (presence == 0.0f && frequency == 0.0f && repetition == 1.0f) return;
    Logit& logit = logits(row, token);
    const float x = widen(logit);
    if (!is_editable(x)) return;
    logit = narrow<Logit>(saturated(penalized(x, presence, frequency, repetition, count)));
  }
};

}  // namespace tokkos::detail
