// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/lm_head/lm_head_step.hpp>

#include "lm_head/logit_window.hpp"

#include <cstdint>

// A draw in two halves: the chunk is chosen when all pairs are known, the token when the chunk's
// logits are there (again).

namespace tokkos {

/// Where each row's draw ends up.
template <class MemorySpace>
struct DrawPlaces {
  Vector<std::int64_t, MemorySpace> chunk;  ///< [n], -1: the row is unusable
  Vector<std::int64_t, MemorySpace> rest;   ///< [n], see DrawPlace
  Vector<std::int64_t, MemorySpace> mass;   ///< [n]
};

/// Chooses the chunks. A row with a NaN for a uniform is ended as `draw` does. Asynchronous.
/// @param rows what is said of whole rows; their logits are not read
template <class ExecutionSpace>
void choose_chunks(const ExecutionSpace& space,
                   const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
                   const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                   const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs,
                   const DrawPlaces<MemoryOf<ExecutionSpace>>& places);

/// Draws the tokens and writes their log-probabilities, where they are wanted. Asynchronous.
/// @param window the block of the first chunks, whose rows begin with the chunk that was chosen
///   where that is another one
template <class ExecutionSpace>
void draw_chosen(const ExecutionSpace& space,
                 const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
                 const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                 const DrawPlaces<MemoryOf<ExecutionSpace>>& places,
                 const LogitWindow<MemoryOf<ExecutionSpace>>& window,
                 const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs);

}  // namespace tokkos
