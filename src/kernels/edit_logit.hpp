// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/row_status.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include <Kokkos_Core.hpp>

#include <cfloat>
#include <cstdint>

namespace tokkos {

/// What an edit whose result overflows stores: just inside the range, so that the token stays
/// allowed.
inline constexpr float largest_edited_logit = 0x1.fffffcp127f;

/// Whether an edit changes this logit at all: NaN, infinities and masked logits keep their value.
KOKKOS_FORCEINLINE_FUNCTION bool is_editable(float x) {
  return x > masked_logit && x <= FLT_MAX;
}

/// A finite logit's edited value, brought back inside the range if it overflowed.
KOKKOS_FORCEINLINE_FUNCTION float saturated(float x) {
  if (x > FLT_MAX) return largest_edited_logit;
  return x < -FLT_MAX ? -largest_edited_logit : x;
}

/// Sets bits of a row's status, if there is one.
template <class Status>
KOKKOS_FORCEINLINE_FUNCTION void flag_row(const Status& row_status, std::int64_t row,
                                          std::int32_t bits) {
  if (row_status.data() != nullptr) Kokkos::atomic_or(&row_status(row), bits);
}

}  // namespace tokkos
