// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/batch/vocabulary_bitmask.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/kernels/draw.hpp>

#include <cstdint>

namespace tokkos {

/// What a step of n rows is given, as the kernels of the same names are.
template <class MemorySpace>
struct LmHeadInputs {
  /// [n, d] hidden states after the model's last normalization; rows may be padded.
  Matrix<const float, MemorySpace> hidden;
  /// [n] temperatures, or [1] for all rows; <= 1e-5 is greedy.
  Vector<const float, MemorySpace> temperature;
  /// As of apply_edits: each (row, token) in one of the two lists.
  LogitBiasEdits<MemorySpace> biases = {};
  /// Penalties of the rows, behind the biases.
  PenaltyEdits<MemorySpace> penalties = {};
  /// Which tokens each row may draw; empty: all.
  VocabularyBitmask<MemorySpace> bitmask = {};
};

/// What a step is asked for: whatever is not empty. No two of them may share memory.
template <class MemorySpace>
struct LmHeadOutputs {
  /// [n] in [0, 1), read: with `tokens`, and only with them.
  Vector<const float, MemorySpace> uniforms = {};
  /// [n]: a token of each row, -1 for an unusable one, as of `draw`.
  Vector<TokenId, MemorySpace> tokens = {};
  /// Which of equal maxima a greedy row takes.
  GreedyTies ties = GreedyTies::uniform;
  /// [n]: log-probability of the drawn token; -infinity where there is none. With `tokens`.
  Vector<float, MemorySpace> token_logprobs = {};
  /// [n], as of `log_sum_exp`.
  Vector<float, MemorySpace> log_sum_exp = {};
  /// [n, m], read: tokens whose log-probabilities are wanted, as of `log_probabilities`.
  Matrix<const TokenId, MemorySpace> given_tokens = {};
  /// [n, m], with `given_tokens`.
  Matrix<float, MemorySpace> given_logprobs = {};
  /// [n, N], N up to 128, as of `top_log_probabilities`; both of them or neither.
  Matrix<TokenId, MemorySpace> top_tokens = {};
  /// [n, N]: see top_tokens.
  Matrix<float, MemorySpace> top_logprobs = {};
  /// [n]; bits are ORed into it: those of apply_edits, measure, draw and log_probabilities.
  Vector<std::int32_t, MemorySpace> row_status = {};
};

}  // namespace tokkos
