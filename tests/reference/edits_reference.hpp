// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tokkos::test {

/// One penalty entry of the seed.
struct ReferencePenalty {
  float presence = 0.0f;
  float frequency = 0.0f;
  float repetition = 1.0f;
  std::int32_t count = 1;
};

/// A float32 logit after a bias. Every operation is done in double and rounded to float32 once,
/// which gives the correctly rounded float32 operation.
float reference_bias(float logit, float bias);

/// A float32 logit after the seed's penalty.
float reference_penalty(float logit, const ReferencePenalty& penalty);

}  // namespace tokkos::test
