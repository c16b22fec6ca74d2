// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/batch/vocabulary_bitmask.hpp>
#include <tokkos/core/logit_type.hpp>

#include <cstdint>

namespace tokkos {

/// The n rows of logits that a step measures, with what is said per row.
template <LogitType Logit, class MemorySpace>
struct LogitRows {
  /// [m, V], rows may be padded.
  Matrix<const Logit, MemorySpace> logits;
  /// [n] temperatures, or [1] for all rows; <= 1e-5 is greedy. NaN, negative or infinite:
  /// RowStatus::invalid_parameter.
  Vector<const float, MemorySpace> temperature;
  /// [n]: row of `logits` for each row, in [0, m). Empty (null): n = m and row i is
  /// logits[i].
  Vector<const std::int32_t, MemorySpace> row_index;
  /// Which tokens each row may draw; row i of it belongs to row i of the n.
  VocabularyBitmask<MemorySpace> bitmask;
  /// Tokens at or past it do not exist; in [1, V], below 2^19. 0: V.
  std::int64_t active_vocabulary = 0;

  /// n.
  KOKKOS_FUNCTION std::int64_t rows() const {
    return static_cast<std::int64_t>(row_index.data() ? row_index.extent(0) : logits.extent(0));
  }
  /// V, the row length.
  KOKKOS_FUNCTION std::int64_t vocabulary() const {
    return static_cast<std::int64_t>(logits.extent(1));
  }
  /// How many tokens exist.
  KOKKOS_FUNCTION std::int64_t active() const {
    return active_vocabulary == 0 ? vocabulary() : active_vocabulary;
  }
};

}  // namespace tokkos
