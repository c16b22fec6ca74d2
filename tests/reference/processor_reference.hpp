// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/penalty_policies.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tokkos::test {

/// In which type a logit is stored.
enum class StoredAs { float32, bfloat16, float16 };

/// The number that is read back after a float32 was stored.
float stored(float x, StoredAs type);

/// What a step does to one row.
struct RowEdits {
  std::vector<std::pair<std::int32_t, double>> biases;  // in list order, tokens may repeat
  float presence = 0.0f;
  float frequency = 0.0f;
  float repetition = 1.0f;
  std::map<std::int32_t, std::int32_t> counts;  // token -> occurrences
  ReferencePolicy policy = ReferencePolicy::seed;
  std::int64_t window = 64;
  std::vector<std::int32_t> prompt, output;  // with the draft path: what other policies look at
  std::set<std::int32_t> banned;
  bool masked = false;
  std::vector<bool> allowed;  // [active vocabulary], if masked
};

/// Bias, penalties and mask of semantics.md on the numbers of one row. Biases are meant to be small
/// enough that their sum is exact in float32.
void apply_edits(std::span<float> logits, const RowEdits& edits, StoredAs type);

}  // namespace tokkos::test
