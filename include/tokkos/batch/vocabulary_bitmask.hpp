// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>

#include <cstdint>

namespace tokkos {

/// Which tokens each row may draw: token v of a row is allowed iff bit (v & 31) of word v >> 5 is
/// set in the row's words. Bits at or past the active vocabulary are ignored.
template <class MemorySpace>
struct VocabularyBitmask {
  /// [m, w], w >= ceil(active vocabulary / 32), rows may be padded. Empty: every token is allowed.
  Matrix<const std::int32_t, MemorySpace> words;
  /// [n]: row of `words` for each row, or -1 for a row without a mask. Empty (null): row
  /// i has words[i].
  Vector<const std::int32_t, MemorySpace> row_index;
};

}  // namespace tokkos
