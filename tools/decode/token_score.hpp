// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <utility>
#include <vector>

namespace tokkos::tools {

/// How probable a generated token was, after edits, mask, temperature and truncation.
struct TokenScore {
  float log_probability = 0.0f;
  /// The most likely tokens of its place, the first ones first, and their log-probabilities.
  std::vector<std::pair<TokenId, float>> most_likely;
};

}  // namespace tokkos::tools
