// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/numerics/portable_log.hpp>

#include "kernels/chunk_kernel.hpp"
#include "kernels/truncated_row.hpp"

#include <Kokkos_Core.hpp>

#include <cfloat>
#include <cstdint>

namespace tokkos {

/// What turns the logits of a row's allowed, kept tokens into log-probabilities.
struct RowLogarithm {
  float maximum;
  float inverse;   ///< 1 / T
  float log_mass;  ///< greedy: of the number of maxima
  bool greedy;
  bool usable;

  template <class Space>
  KOKKOS_FUNCTION static RowLogarithm of(const RowMeasures<Space>& measures, const RowCut& cut,
                                         InverseTemperature inverse, std::int64_t row) {
    const std::int64_t all = measures.row_mass(row);
    const std::int64_t mass = cut.count < 0 ? all : cut.mass;
    return {measures.row_maximum(row), inverse.value, portable_log_of_grid(mass), inverse.greedy,
            all > 0 && mass > 0 && cut.count != 0};
  }

  /// x + 0 for a logit x: of -0 the difference to a maximum of 0 would be -0.
  KOKKOS_FORCEINLINE_FUNCTION float of_logit(float x) const {
    if (greedy) return x == maximum ? 0.0f - log_mass : negative_infinity;
    return ((x + 0.0f) - maximum) * inverse - log_mass;
  }
};

/// M / T + log(S), saturating; greedy: M; of an unusable row: -infinity.
KOKKOS_INLINE_FUNCTION float log_sum_exp_of(const RowTotal& total, InverseTemperature inverse) {
  if (total.mass == 0) return negative_infinity;
  const float sum = total.maximum * inverse.value + portable_log_of_grid(total.mass);
  const float saturated = sum > FLT_MAX ? FLT_MAX : (sum < -FLT_MAX ? -FLT_MAX : sum);
  return inverse.greedy ? total.maximum : saturated;
}

}  // namespace tokkos
