// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace tokkos {

/// How one request wants its tokens chosen.
struct GenerationConfig {
  /// Logits are divided by it; finite and >= 0, at most 1e-5 is greedy (see GreedyTies for ties).
  float temperature = 1.0f;
  /// Subtracted once from each token generated before; finite.
  float presence_penalty = 0.0f;
  /// Subtracted times the number of times it was generated; finite.
  float frequency_penalty = 0.0f;
  /// Divides a positive logit of a token generated before, multiplies a negative one; finite, > 0.
  float repetition_penalty = 1.0f;
  /// (token, bias) pairs: finite as float32, or -infinity to forbid the token. A token that stands
  /// there twice gets both biases, added in this order.
  std::vector<std::pair<TokenId, double>> logit_bias = {};
  /// Key of the request's random stream.
  std::uint64_t seed = 0;

  /// Whether any penalty changes anything.
  bool has_penalty() const {
    return presence_penalty != 0.0f || frequency_penalty != 0.0f || repetition_penalty != 1.0f;
  }
};

/// Checks every field of the config of request number `request` against a vocabulary.
/// @throws Error that names field, request or entry, value and range
void validate(const GenerationConfig& config, std::int64_t vocabulary, std::int64_t request);

}  // namespace tokkos
