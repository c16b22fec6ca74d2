// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tokkos {

/// Bits of a row's (or a draft tree's) status word: what only the data on the device shows. Kernels
/// OR their bits into the word; whoever owns it clears it between steps.
struct RowStatus {
  /// The bits.
  enum Bit : std::int32_t {
    ok = 0,
    nan_logit = 1,          ///< an allowed logit is NaN
    positive_infinity = 2,  ///< an allowed logit is +infinity
    empty = 4,              ///< no token is allowed, or found in logits that were changed since
    zero_residual = 8,      ///< a residual distribution vanished within rounding and was not used
    invalid_draft = 16,     ///< a draft token lies outside the vocabulary and was rejected
    broken_tree = 32,       ///< a tree index out of range, or a cycle
    invalid_edit =
        64,  ///< an edit was left out: its token, count, value or mask row is out of range
    invalid_parameter = 128,    ///< a temperature or uniform that is not a legal number
    invalid_probability = 256,  ///< a given probability is NaN, negative or above 1.001
  };
};

/// With one of these bits set, the row's probabilities are all 0, its token is -1 and its
/// log-sum-exp -infinity.
inline constexpr std::int32_t unusable_row = RowStatus::nan_logit | RowStatus::positive_infinity |
                                             RowStatus::empty | RowStatus::invalid_parameter |
                                             RowStatus::invalid_probability;

/// Names of the bits that are set, joined by '+'; "ok" for 0.
std::string row_status_names(std::int32_t status);

}  // namespace tokkos
