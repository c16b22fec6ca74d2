// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstdint>
#include <span>

namespace tokkos {

/// Sets bit (v & 31) of words[v >> 5] for every listed token v and clears the others. Tokens past
/// the words are left out; a token may be listed more than once.
/// @param tokens all >= 0
void fill_allowed_bitmask(std::span<const TokenId> tokens, std::span<std::int32_t> words);

/// Clears the bits of `words` that are not set in `other`. @param other as many words
void intersect_bitmask(std::span<std::int32_t> words, std::span<const std::int32_t> other);

}  // namespace tokkos
