// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/logit_type.hpp>

#include "lm_head/logit_window.hpp"

#include <cstdint>

namespace tokkos {

/// Memory that products by KokkosBlas::gemm need besides their operands.
struct GemmRoom {
  float* weights = nullptr;       ///< a chunk of them, widened; null where they are float32
  float* hidden = nullptr;        ///< of the rows of one piece, one after the other
  float* logits = nullptr;        ///< theirs
  std::int64_t* order = nullptr;  ///< rows by piece
};

/// Products of LmHeadProduct::gemm: logits(i, v - first) of every row i of `hidden` and every token
/// v in [first, first + count). Weights of 16 bits are widened chunk by chunk. Asynchronous.
template <class ExecutionSpace, LogitType Weight>
void gemm_block(const ExecutionSpace& space,
                const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden,
                const Matrix<const Weight, MemoryOf<ExecutionSpace>>& weight, std::int64_t first,
                std::int64_t count, const Matrix<float, MemoryOf<ExecutionSpace>>& logits,
                const GemmRoom& room);

/// The same of the piece of each row that a window of single pieces holds: one product for the rows
/// of a piece. Waits for the choice, which decides the shapes.
/// @param active active vocabulary
template <class ExecutionSpace, LogitType Weight>
void gemm_chosen(const ExecutionSpace& space,
                 const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden,
                 const Matrix<const Weight, MemoryOf<ExecutionSpace>>& weight, std::int64_t active,
                 const LogitWindow<MemoryOf<ExecutionSpace>>& window, const GemmRoom& room);

}  // namespace tokkos
