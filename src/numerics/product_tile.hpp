// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tokkos {

/// Tokens that a host multiplies `rows` rows with at a time: as many as its registers hold sums
/// for, 16 floats for each product. Only the time depends on it.
template <int rows>
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int tokens_of_tile = rows == 1 ? 8 : 4;
#else
inline constexpr int tokens_of_tile = rows == 1 ? 4 : 1;
#endif

}  // namespace tokkos
