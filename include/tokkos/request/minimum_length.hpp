// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/token_context.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tokkos {

/// Appends the end-of-sequence tokens while fewer than `min_tokens` tokens were generated; those of
/// the draft path count as generated.
void ban_early_end(const TokenContext& context, std::int32_t min_tokens,
                   std::span<const TokenId> end_token_ids, std::vector<TokenId>& banned);

}  // namespace tokkos
