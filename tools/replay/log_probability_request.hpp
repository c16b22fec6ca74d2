// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tokkos::tools {

/// Of which distribution log-probabilities are wanted.
enum class LogProbabilityKind {
  none,
  raw,        ///< before edits and mask, at temperature 1
  processed,  ///< after edits, mask, temperature and truncation
};

/// What one request wants to know of each of its rows.
struct LogProbabilityRequest {
  LogProbabilityKind kind = LogProbabilityKind::none;
  std::int32_t top = 0;  ///< how many of the most likely tokens, beside the one drawn
};

}  // namespace tokkos::tools
