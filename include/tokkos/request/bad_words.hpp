// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/token_context.hpp>

#include <span>
#include <vector>

namespace tokkos {

/// Appends the last token of every sequence whose other tokens end the context; of a sequence of
/// one token, that token. Tokens may be appended more than once.
/// @param bad_words sequences of one token or more
void ban_bad_words(const TokenContext& context, std::span<const std::vector<TokenId>> bad_words,
                   std::vector<TokenId>& banned);

}  // namespace tokkos
