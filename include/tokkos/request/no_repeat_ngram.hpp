// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/token_context.hpp>

#include <cstdint>
#include <vector>

namespace tokkos {

/// Appends every token that would end a sequence of `size` tokens which stands in the context
/// already (size 1: every token of the context). Tokens may be appended more than once.
/// O(tokens of the context), whatever the size; memory for `size` numbers.
/// @param size n of the n-grams; 0 and less append nothing
/// Source: Hugging Face's NoRepeatNGramLogitsProcessor.
void ban_repeated_ngrams(const TokenContext& context, std::int32_t size,
                         std::vector<TokenId>& banned);

}  // namespace tokkos
