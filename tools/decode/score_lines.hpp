// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/token_score.hpp"
#include "tools/decode/tokenizer.hpp"

#include <tokkos/core/types.hpp>

#include <iosfwd>
#include <span>

namespace tokkos::tools {

/// Prints one line per generated token: its log-probability, its word in quotation marks, and in
/// parentheses the most likely words of its place with theirs. A paragraph break reads "\n\n".
/// @param scores one per token
void print_scores(std::ostream& out, std::span<const TokenId> tokens,
                  std::span<const TokenScore> scores, const Vocabulary& vocabulary);

}  // namespace tokkos::tools
