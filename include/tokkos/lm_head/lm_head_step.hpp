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
  /// [n, d] hidden states after the model's last normalization, float32; rows may be padded. What
  /// is NaN or too large makes logits that are: the row is flagged then.
  Matrix<const float, MemorySpace> hidden;
  /// [n] temperatures in [0, FLT_MAX], or [1] for all rows; <= 1e-5 is greedy. Any other number
  /// ends its row: status invalid_parameter.
  Vector<const float, MemorySpace> temperature;
  /// As of apply_edits: each (row, token) in one of the two lists. They come behind scale and cap;
  /// one that is out of range is left out: status invalid_edit.
  LogitBiasEdits<MemorySpace> biases = {};
  /// Penalties of the rows, behind the biases.
  PenaltyEdits<MemorySpace> penalties = {};
  /// Which tokens each row may draw; empty: all.
  VocabularyBitmask<MemorySpace> bitmask = {};
};

/// What a step is asked for: whatever is not empty. No two of them may share memory.
template <class MemorySpace>
struct LmHeadOutputs {
  /// [n] in [0, 1), read: with `tokens`, and only with them. Values outside are clamped to [0, 1 -
  /// 2^-24]; NaN ends its row: status invalid_parameter.
  Vector<const float, MemorySpace> uniforms = {};
  /// [n]: a token of each row in [0, active vocabulary), -1 for an unusable one, as of `draw`.
  Vector<TokenId, MemorySpace> tokens = {};
  /// Which of equal maxima a greedy row takes.
  GreedyTies ties = GreedyTies::uniform;
  /// [n]: natural logarithm of the drawn token's probability, after edits, mask and temperature;
  /// -infinity where there is none. With `tokens`.
  Vector<float, MemorySpace> token_logprobs = {};
  /// [n]: natural logarithm of the sum of exp(logit / temperature) over the allowed tokens, as of
  /// `log_sum_exp`; -infinity for an unusable row.
  Vector<float, MemorySpace> log_sum_exp = {};
  /// [n, m], read: tokens whose log-probabilities are wanted, as of `log_probabilities`: -1 stands
  /// for none, an id below it or at or past V sets invalid_draft.
  Matrix<const TokenId, MemorySpace> given_tokens = {};
  /// [n, m], with `given_tokens`.
  Matrix<float, MemorySpace> given_logprobs = {};
  /// [n, N], N up to 128, as of `top_log_probabilities`; both of them or neither.
  Matrix<TokenId, MemorySpace> top_tokens = {};
  /// [n, N]: see top_tokens.
  Matrix<float, MemorySpace> top_logprobs = {};
  /// [n]; bits of RowStatus are ORed into it (clear it between steps): those of apply_edits,
  /// measure, draw and log_probabilities.
  Vector<std::int32_t, MemorySpace> row_status = {};
};

}  // namespace tokkos
