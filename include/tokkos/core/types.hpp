// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>
#include <cstdint>

// A single flag of fast-math is as bad as all of them.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "Tokkos promises the same bits everywhere: compile it without fast-math"
#endif

namespace tokkos {

/// A token's number in the vocabulary, in [0, V); -1 stands for no token.
using TokenId = std::int32_t;

/// Temperatures up to and including this one are greedy (the seed's bound).
inline constexpr float greedy_temperature = 1e-5f;

/// What a masked float32 logit is set to; logits at or below it are forbidden.
inline constexpr float masked_logit = -FLT_MAX;

/// The largest active vocabulary of one row; larger ones are sharded.
inline constexpr std::int64_t max_active_vocabulary = (std::int64_t{1} << 19) - 1;

/// The largest vocabulary (row length) of a logits View.
inline constexpr std::int64_t max_vocabulary = 2147483647;

}  // namespace tokkos
