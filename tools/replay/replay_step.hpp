// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include "tools/replay/request_file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::tools {

template <class T>
using HostMatrix = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;
template <class T>
using HostVector = Kokkos::View<T*, Kokkos::HostSpace>;

/// A recorded step.
struct ReplayInput {
  HostMatrix<float> logits;          ///< [n, V]
  HostMatrix<std::int32_t> bitmask;  ///< [n, w], or no rows: no mask
  std::vector<float> uniforms;       ///< [n], or empty: Philox
  ReplayRequests requests;
};

/// What the library makes of it.
struct ReplayResult {
  HostMatrix<float> logits;  ///< [n, V] after edits and mask, where probabilities are asked for
  HostMatrix<float> probabilities;  ///< [n, V] if they are asked for
  HostVector<TokenId> tokens;
  HostVector<std::int32_t> row_status;
  HostVector<float> log_sum_exp;
  // What the options or a request ask for:
  std::optional<HostMatrix<float>> truncated_probabilities;  ///< [n, V]
  std::optional<HostVector<float>> logprobs;                 ///< [n]
  std::optional<HostMatrix<float>> top_logprobs;             ///< [n, k]
  std::optional<HostMatrix<TokenId>> top_tokens;             ///< [n, k]
};

struct ReplayOptions {
  /// False: the token-only path, which writes nothing of size rows x vocabulary; the same tokens.
  bool probabilities = true;
  /// Whether the probabilities after truncation are wanted as well.
  bool truncated_probabilities = false;
  /// How often the step runs, on the recorded logits each time.
  int repeat = 1;
};

/// Each stage in order, with its seconds, one per repetition.
using StageSeconds = std::vector<std::pair<std::string, std::vector<double>>>;

/// Runs the step on Kokkos's default execution space.
/// @param input its logits may be overwritten
/// @param seconds filled
/// @param after_each called after each repetition
/// @throws Error if the input does not fit together
ReplayResult replay_step(const ReplayInput& input, const ReplayOptions& options,
                         StageSeconds& seconds, const std::function<void()>& after_each = {});

}  // namespace tokkos::tools
