// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/edits_reference.hpp"

#include <cfloat>
#include <cmath>

namespace tokkos::test {

namespace {

bool is_left_alone(float logit) {
  return std::isnan(logit) || std::isinf(logit) || logit <= -FLT_MAX;
}

float just_inside(float edited) {
  if (!std::isinf(edited)) return edited;
  return std::copysign(0x1.fffffcp127f, edited);
}

}  // namespace

float reference_bias(float logit, float bias) {
  if (is_left_alone(logit)) return logit;
  if (bias == -HUGE_VALF) return bias;
  return just_inside(static_cast<float>(static_cast<double>(logit) + static_cast<double>(bias)));
}

float reference_penalty(float logit, const ReferencePenalty& penalty) {
  if (is_left_alone(logit)) return logit;
  if (penalty.presence == 0.0f && penalty.frequency == 0.0f && penalty.repetition == 1.0f) {
    return logit;
  }
  const double count = static_cast<float>(penalty.count);
  const auto t = static_cast<float>(count * static_cast<double>(penalty.frequency));
  const auto u = static_cast<float>(static_cast<double>(penalty.presence) + static_cast<double>(t));
  const auto x = static_cast<float>(static_cast<double>(logit) - static_cast<double>(u));
  const double repetition = penalty.repetition;
  const double y =
      x < 0.0f ? static_cast<double>(x) * repetition : static_cast<double>(x) / repetition;
  return just_inside(static_cast<float>(y));
}

}  // namespace tokkos::test
