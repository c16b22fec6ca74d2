// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/softmax_reference.hpp"

#include <cstdint>
#include <vector>

namespace tokkos::test {

/// The allowed tokens of a row in the contract's order: largest logit first, then the lowest id.
std::vector<std::int64_t> ordered_tokens(const ReferenceRow& row);

/// Log-probabilities of one row in double arithmetic, straight from their definition.
struct ReferenceLogProbabilities {
  std::vector<double> values;  ///< [V]; -infinity where forbidden or cut, or the row is unusable
  std::vector<double> bounds;  ///< [V]: promised bound on a finite value's error
};

/// @param kept the first tokens of the order that truncation keeps; -1: it keeps all, 0: the row is
///   unusable. Greedy rows are not truncated.
ReferenceLogProbabilities reference_log_probabilities(const ReferenceRow& row,
                                                      std::int64_t kept = -1);

/// Whether a computed log-probability is within its bound (or exactly -infinity).
bool is_close(const ReferenceLogProbabilities& expected, std::int64_t token, float value);

}  // namespace tokkos::test
