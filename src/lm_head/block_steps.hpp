// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/lm_head/lm_head_options.hpp>
#include <tokkos/lm_head/lm_head_step.hpp>

#include "lm_head/logit_window.hpp"
#include "lm_head/pieces.hpp"

#include <cstdint>

// What is done to a block of the vocabulary between its product and its end. All asynchronous.

namespace tokkos {

/// A block: chunks of the vocabulary, with the logits of their tokens in memory.
template <class MemorySpace>
struct LogitBlock {
  LogitRows<float, MemorySpace> rows;  ///< of the block's tokens alone
  RowMeasures<MemorySpace> measures;   ///< of the block's chunks; the totals are the rows'
  std::int64_t first;                  ///< token of the first column
};

/// Scales and caps the logits that a window holds.
template <class ExecutionSpace>
void finish_logits(const ExecutionSpace& space, const LmHeadOptions& options,
                   const LogitWindow<MemoryOf<ExecutionSpace>>& window);

/// Applies the edits that fall into a window. Invalid ones set invalid_edit, wherever they fall.
template <class ExecutionSpace>
void edit_logits(const ExecutionSpace& space, const LogitWindow<MemoryOf<ExecutionSpace>>& window,
                 const LmHeadInputs<MemoryOf<ExecutionSpace>>& inputs,
                 const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status);

/// Writes the pairs of a block's chunks and, if it will be forgotten, the masses of their pieces.
template <class ExecutionSpace>
void measure_block(const ExecutionSpace& space, const LogitBlock<MemoryOf<ExecutionSpace>>& block,
                   const PieceMasses<MemoryOf<ExecutionSpace>>& pieces);

/// Writes the totals of all rows from the pairs of all their chunks.
/// @param rows what is said of whole rows; their logits are not read
template <class ExecutionSpace>
void sum_rows(const ExecutionSpace& space, const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
              const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
              const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status);

/// Results that a step fills block by block, before the first one: no token, -infinity.
template <class ExecutionSpace>
void clear_results(const ExecutionSpace& space,
                   const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs);

/// Keeps a block's logits of the given tokens, -infinity for forbidden ones.
template <class ExecutionSpace>
void keep_given(const ExecutionSpace& space, const LogitBlock<MemoryOf<ExecutionSpace>>& block,
                const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs);

/// Merges a measured block's first tokens into those of the blocks behind it, with their logits.
template <class ExecutionSpace>
void keep_top(const ExecutionSpace& space, const LogitBlock<MemoryOf<ExecutionSpace>>& block,
              const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs);

/// Turns the logits that were kept into log-probabilities, and writes the log-sum-exps.
template <class ExecutionSpace>
void finish_results(const ExecutionSpace& space,
                    const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
                    const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                    const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs);

}  // namespace tokkos
