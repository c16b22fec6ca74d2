// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/logit_type.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/numerics/bfloat16.hpp>
#include <tokkos/numerics/float16.hpp>

#include <Kokkos_Macros.hpp>

#include <concepts>

namespace tokkos {

/// A stored logit as float32 (exact).
KOKKOS_FORCEINLINE_FUNCTION float widen(float x) {
  return x;
}
/// See above.
KOKKOS_FORCEINLINE_FUNCTION float widen(bfloat16 x) {
  return x.widen();
}
/// See above.
KOKKOS_FORCEINLINE_FUNCTION float widen(float16 x) {
  return x.widen();
}

/// A float32 as stored logit: nearest-even, finite overflow saturates at the largest finite.
template <LogitType Logit>
KOKKOS_FORCEINLINE_FUNCTION Logit narrow(float x) {
  if constexpr (std::same_as<Logit, float>) {
    return x;
  } else {
    return Logit::narrow(x);
  }
}

/// What the mask stores for a forbidden token: -FLT_MAX in float32, -infinity in 16 bits.
template <LogitType Logit>
KOKKOS_FORCEINLINE_FUNCTION Logit forbidden_logit() {
  if constexpr (std::same_as<Logit, float>) {
    return masked_logit;
  } else {
    return Logit::negative_infinity();
  }
}

}  // namespace tokkos
