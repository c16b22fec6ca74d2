// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/lm_head/lm_head_step.hpp>

#include "lm_head/logit_window.hpp"
#include "lm_head/pieces.hpp"

#include <cstdint>

// A draw in two halves: the chunk is chosen when all pairs are known, and of a forgotten one the
// piece; the token when the logits are there (again).

namespace tokkos {

/// Where each row's draw ends up.
template <class MemorySpace>
struct DrawPlaces {
  /// [n] first token of a chunk that is in memory, or of a piece of one that is not; -1: the row is
  /// unusable.
  Vector<std::int64_t, MemorySpace> start;
  Vector<std::int64_t, MemorySpace> rest;  ///< [n], see DrawPlace
  Vector<std::int64_t, MemorySpace> mass;  ///< [n], see DrawPlace
  Vector<std::int64_t, MemorySpace>
      before;                             ///< [n], of pieces: mass of those before it in the chunk
  Vector<std::int64_t, MemorySpace> sum;  ///< [n], of pieces: mass of all of the chunk's
};

/// Chooses chunks and pieces. A row with a NaN for a uniform is ended as `draw` does. Asynchronous.
/// @param rows what is said of whole rows; their logits are not read
template <class ExecutionSpace>
void choose_places(const ExecutionSpace& space,
                   const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
                   const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                   const PieceMasses<MemoryOf<ExecutionSpace>>& pieces,
                   const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs,
                   const DrawPlaces<MemoryOf<ExecutionSpace>>& places);

/// Draws the tokens and writes their log-probabilities, where they are wanted. Asynchronous.
/// @param window the block of the first chunks, whose rows begin with the piece that was chosen
///   where that is of another one
template <class ExecutionSpace>
void draw_chosen(const ExecutionSpace& space,
                 const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
                 const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                 const DrawPlaces<MemoryOf<ExecutionSpace>>& places,
                 const LogitWindow<MemoryOf<ExecutionSpace>>& window,
                 const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs);

}  // namespace tokkos
