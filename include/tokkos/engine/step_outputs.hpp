// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/batch/vocabulary_bitmask.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/draw.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace tokkos {

/// The Views of a step beside its logits: what LogitProcessor::process writes, where a View that is
/// left empty is not computed, and the bitmask that it reads. Outputs have no byte in common with
/// what is read or with each other, but where it says so; their rows may lie between the rows of
/// another View, as columns of one array.
template <class MemorySpace>
struct StepOutputs {
  /// [n, V]: probabilities after temperature; may be exactly the logits (float32).
  Matrix<float, MemorySpace> probabilities = {};
  /// [n]: a token drawn from each row, -1 for an unusable one.
  Vector<TokenId, MemorySpace> tokens = {};
  /// [n, V]: probabilities after truncation as well; may be exactly the logits (float32) if
  /// `probabilities` is not.
  Matrix<float, MemorySpace> truncated_probabilities = {};
  /// [n]: log-probability of the token drawn, after edits, temperature and truncation; needs
  /// `tokens`.
  Vector<float, MemorySpace> logprobs = {};
  /// [n, N], both or none: the N <= 128 most likely tokens after edits, temperature and truncation,
  /// largest logit first, and their log-probabilities; -1 and -inf where there are fewer.
  Matrix<TokenId, MemorySpace> top_tokens = {};
  /// [n, N]: see top_tokens.
  Matrix<float, MemorySpace> top_logprobs = {};
  /// [n]: log-probability of the token drawn in the model's own distribution: before edits and
  /// mask, at temperature 1, not truncated. Needs `tokens`, and a step without a LogitHook.
  Vector<float, MemorySpace> raw_logprobs = {};
  /// [n, N], both or none: the N <= 128 most likely tokens of that distribution and their
  /// log-probabilities. Where the row is unusable there (a NaN that only the mask hides, say),
  /// these are -1 and -inf, and raw_logprobs too; row_status speaks of the edited and masked row
  /// alone.
  Matrix<TokenId, MemorySpace> raw_top_tokens = {};
  /// [n, N]: see raw_top_tokens.
  Matrix<float, MemorySpace> raw_top_logprobs = {};
  /// [n]: log-sum-exp of the logits / temperature.
  Vector<float, MemorySpace> log_sum_exp = {};
  /// [n]: RowStatus bits, ORed into it.
  Vector<std::int32_t, MemorySpace> row_status = {};
  /// Read: masks that lie on the device already. What a row's request forbids by a VocabularyMask
  /// or allowed_token_ids is forbidden as well; it is stored in the logits then, by a launch more.
  /// Not together with StepOptions::store_mask. A row whose row_index is neither -1 nor a row of
  /// the words is unusable: RowStatus::invalid_parameter. Empty: none.
  VocabularyBitmask<MemorySpace> bitmask = {};
};

/// A user's own kernels between the edits of a step and all that reads the edited logits: called
/// once with the instance on which to launch them and the logits [n, V], which it may change in
/// place. The mask is not yet applied. A token that the edits have forbidden is at -infinity (at
/// most -FLT_MAX), and is forbidden no longer if it does not stay there. raw_logprobs cannot be had
/// together with it. What it throws passes on; the logits are edited then, and the step is no
/// longer prepared.
template <class ExecutionSpace, LogitType Logit>
using LogitHook =
    std::function<void(const ExecutionSpace&, const Matrix<Logit, MemoryOf<ExecutionSpace>>&)>;

/// How LogitProcessor::process draws and masks.
struct StepOptions {
  /// [n] in [0, 1), for the tokens; empty: step_uniforms.
  std::span<const float> uniforms = {};
  /// Which of equal maxima a greedy row takes.
  GreedyTies ties = GreedyTies::uniform;
  /// Whether masked logits are also set to -FLT_MAX (16 bits: -infinity) in the caller's View.
  bool store_mask = false;
};

}  // namespace tokkos
