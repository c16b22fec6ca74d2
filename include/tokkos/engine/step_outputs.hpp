// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/kernels/draw.hpp>

#include <cstdint>
#include <span>

namespace tokkos {

/// What LogitProcessor::process writes; a View that is left empty is not computed.
template <class MemorySpace>
struct StepOutputs {
  /// [n, V]: probabilities after temperature; may be exactly the logits (float32).
  Matrix<float, MemorySpace> probabilities = {};
  /// [n]: a token drawn from each row, -1 for an unusable one.
  Vector<TokenId, MemorySpace> tokens = {};
  /// [n]: log-sum-exp of the logits / temperature.
  Vector<float, MemorySpace> log_sum_exp = {};
  /// [n]: RowStatus bits, ORed into it.
  Vector<std::int32_t, MemorySpace> row_status = {};
};

/// How LogitProcessor::process draws and masks.
struct StepOptions {
  /// [n] in [0, 1), for the tokens; empty: step_uniforms.
  std::span<const float> uniforms = {};
  GreedyTies ties = GreedyTies::uniform;
  /// Whether masked logits are also set to -FLT_MAX (16 bits: -infinity) in the caller's View.
  bool store_mask = false;
};

}  // namespace tokkos
