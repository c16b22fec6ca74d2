// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/penalty_policy.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include "kernels/edit_logit.hpp"
#include "numerics/prefetch.hpp"

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

/// Whether a logit is there to be edited: of a View all are, of a part of the vocabulary (which
/// says so by a member `holds`) only its own.
template <class Logits>
KOKKOS_FORCEINLINE_FUNCTION bool is_held(const Logits& logits, std::int64_t row,
                                         std::int64_t token) {
  if constexpr (requires { logits.holds(row, token); }) {
    return logits.holds(row, token);
  } else {
    return true;
  }
}

template <class Logits>
KOKKOS_FORCEINLINE_FUNCTION void fetch_logit(const Logits& logits, std::int64_t row,
                                             std::int64_t token) {
  if (row < 0 || row >= static_cast<std::int64_t>(logits.extent(0))) return;
  if (token < 0 || token >= static_cast<std::int64_t>(logits.extent(1))) return;
  if (is_held(logits, row, token)) prefetch(&logits(row, token));
}

/// `Logits` is a View of [n, V], or what has its extents and its elements.
template <class ExecutionSpace, LogitType Logit,
          class Logits = Matrix<Logit, MemoryOf<ExecutionSpace>>>
struct AddBias {
  /// Asks for the logit of an edit that comes soon.
  KOKKOS_FORCEINLINE_FUNCTION void fetch(std::int64_t i) const {
    fetch_logit(logits, row(i), edits.token_ids(i));
  }

  using Space = MemoryOf<ExecutionSpace>;
  Logits logits;
  LogitBiasEdits<Space> edits;
  Vector<std::int32_t, Space> row_status;

  /// Row of an edit, which may not exist.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row(std::int64_t i) const { return edits.pos2seq_id(i); }

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
    } else if (is_held(logits, row, token)) {
      add_bias(logits(row, token), bias);
    }
  }
};

/// Presence, frequency and repetition penalty of a row, and its PenaltyPolicy as a number.
struct RowPenalties {
  float presence;
  float frequency;
  float repetition;
  std::int32_t policy;

  KOKKOS_FORCEINLINE_FUNCTION bool is(PenaltyPolicy other) const {
    return policy == static_cast<std::int32_t>(other);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool are_valid() const {
    return Kokkos::fabs(presence) <= FLT_MAX && Kokkos::fabs(frequency) <= FLT_MAX &&
           repetition > 0.0f && repetition <= FLT_MAX && policy >= 0 &&
           policy <= static_cast<std::int32_t>(PenaltyPolicy::llama_cpp);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool change_nothing() const {
    return presence == 0.0f && frequency == 0.0f && repetition == 1.0f;
  }
  /// Fewest occurrences of a token that is penalized: where the prompt is too, a token of the
  /// prompt alone has none.
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t least_count() const {
    return is(PenaltyPolicy::openai) || is(PenaltyPolicy::hugging_face) ? 0 : 1;
  }
};

/// x * repetition for x < 0, else x / repetition. No branch: it would be mispredicted half of the
/// time, each time after the wait for a logit.
KOKKOS_FORCEINLINE_FUNCTION float repeated(float x, float repetition) {
  const std::uint32_t negative = x < 0.0f ? ~0u : 0u;
  const auto product = __builtin_bit_cast(std::uint32_t, x * repetition);
  const auto quotient = __builtin_bit_cast(std::uint32_t, x / repetition);
  return __builtin_bit_cast(float, (product & negative) | (quotient & ~negative));
}

/// The penalty of one logit. The seed's is additive first, the others multiply first (at 0
/// multiplying and dividing are the same, so one comparison serves them all).
KOKKOS_FORCEINLINE_FUNCTION float penalized(float x, const RowPenalties& row, std::int32_t count) {
  const float t = static_cast<float>(count) * row.frequency;
  const bool adds_first = row.is(PenaltyPolicy::seed);
  if (adds_first) x = x - (row.presence + t);
  x = repeated(x, row.repetition);
  // What overflowed stays there: infinity less infinity would be no number.
  if (adds_first || !(Kokkos::fabs(x) <= FLT_MAX)) return x;
  if (row.is(PenaltyPolicy::openai)) return count > 0 ? (x - t) - row.presence : x;
  return row.is(PenaltyPolicy::llama_cpp) ? x - (t + row.presence) : x;
}

template <class ExecutionSpace, LogitType Logit,
          class Logits = Matrix<Logit, MemoryOf<ExecutionSpace>>>
struct Penalize {
  KOKKOS_FORCEINLINE_FUNCTION void fetch(std::int64_t i) const {
    fetch_logit(logits, row(i), edits.token_ids(i));
  }

  using Space = MemoryOf<ExecutionSpace>;
  Logits logits;
  PenaltyEdits<Space> edits;
  Vector<std::int32_t, Space> row_status;

  /// Row of an edit, which may not exist; -1 for that of no group.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row(std::int64_t i) const {
    const std::int64_t c = edits.pos2seq_id(i);
    return c < 0 || c >= static_cast<std::int64_t>(edits.seq_ids.extent(0)) ? -1 : edits.seq_ids(c);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t c = edits.pos2seq_id(i);
    if (c < 0 || c >= static_cast<std::int64_t>(edits.seq_ids.extent(0))) return;
    const std::int64_t row = edits.seq_ids(c);
    if (row < 0 || row >= static_cast<std::int64_t>(logits.extent(0))) return;
    const std::int64_t token = edits.token_ids(i);
    const RowPenalties penalties{edits.penalties(c, 0), edits.penalties(c, 1),
                                 edits.penalties(c, 2),
                                 edits.policies.data() != nullptr ? edits.policies(c) : 0};
    const std::int32_t count = edits.token_cnt(i);
    const bool has_bias = i < static_cast<std::int64_t>(edits.biases.extent(0));
    const float bias = has_bias ? edits.biases(i) : __builtin_nanf("");  // NaN: none
    if (token < 0 || token >= static_cast<std::int64_t>(logits.extent(1)) ||
        !penalties.are_valid() || count < penalties.least_count() || bias > FLT_MAX) {
      flag_row(row_status, row, RowStatus::invalid_edit);
      return;
    }
    if (!is_held(logits, row, token)) return;
    if (bias == bias) add_bias(logits(row, token), bias);
    if (penalties.change_nothing()) return;
    Logit& logit = logits(row, token);
    const float x = widen(logit);
    if (!is_editable(x)) return;
    logit = narrow<Logit>(saturated(penalized(x, penalties, count)));
  }
};

}  // namespace tokkos::detail
