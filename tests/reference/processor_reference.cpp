// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/processor_reference.hpp"

#include "reference/storage_reference.hpp"

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tokkos::test {

namespace {

bool is_editable(float x) {
  return std::isfinite(x) && x > -FLT_MAX;
}

/// A finite logit stays allowed: overflow ends just inside the range.
float saturated(double x) {
  constexpr float limit = 0x1.fffffcp127f;
  const auto rounded = static_cast<float>(x);
  if (std::isfinite(rounded)) return rounded;
  return x < 0 ? -limit : limit;
}

float penalized(float x, const RowEdits& edits, std::int32_t count) {
  const float t = static_cast<float>(count) * edits.frequency;
  const float u = edits.presence + t;
  const float difference = x - u;
  return saturated(difference < 0 ? double{difference} * edits.repetition
                                  : double{difference} / edits.repetition);
}

}  // namespace

float stored(float x, StoredAs type) {
  if (type == StoredAs::float32) return x;
  const SixteenBitFormat format = type == StoredAs::bfloat16 ? bfloat16_format : float16_format;
  return static_cast<float>(format.widen(format.narrow(x)));
}

void apply_edits(std::span<float> logits, const RowEdits& edits, StoredAs type) {
  std::map<std::int32_t, double> merged;
  for (const auto& [token, bias] : edits.biases) merged[token] += bias;
  for (const auto& [token, bias] : merged) {
    float& x = logits[static_cast<std::size_t>(token)];
    if (!is_editable(x)) continue;
    const bool forbids = bias == -std::numeric_limits<double>::infinity();
    x = stored(forbids ? static_cast<float>(bias) : saturated(x + bias), type);
  }
  for (const std::int32_t token : edits.banned) {
    float& x = logits[static_cast<std::size_t>(token)];
    if (is_editable(x)) x = -std::numeric_limits<float>::infinity();
  }
  if (edits.policy != ReferencePolicy::seed) {
    const std::vector<float> penalized_logits = penalized_row(
        {logits.begin(), logits.end()},
        {edits.policy, edits.presence, edits.frequency, edits.repetition, edits.window},
        edits.prompt, edits.output);
    for (std::size_t v = 0; v < logits.size(); ++v) logits[v] = stored(penalized_logits[v], type);
  }
  const bool penalizes = edits.policy == ReferencePolicy::seed &&
                         (edits.presence != 0 || edits.frequency != 0 || edits.repetition != 1);
  for (const auto& [token, count] : edits.counts) {
    float& x = logits[static_cast<std::size_t>(token)];
    if (penalizes && is_editable(x)) x = stored(penalized(x, edits, count), type);
  }
  if (!edits.masked) return;
  const float forbidden =
      type == StoredAs::float32 ? -FLT_MAX : -std::numeric_limits<float>::infinity();
  for (std::size_t v = 0; v < logits.size(); ++v) {
    if (v >= edits.allowed.size() || !edits.allowed[v]) logits[v] = forbidden;
  }
}

}  // namespace tokkos::test
