// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/logit_type.hpp>

#include "lm_head/logit_window.hpp"

#include <cstdint>

namespace tokkos {

/// Has Kokkos make the room that teams of multiply_block need on a host, so that no step does.
template <class ExecutionSpace, LogitType Weight>
void reserve_scratch(const ExecutionSpace& space, std::int64_t rows, std::int64_t size);

/// Products of LmHeadProduct::fixed_order: logits(i, v - first) of every row i of `hidden` and
/// every token v in [first, first + count). Asynchronous.
template <class ExecutionSpace, LogitType Weight>
void multiply_block(const ExecutionSpace& space,
                    const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden,
                    const Matrix<const Weight, MemoryOf<ExecutionSpace>>& weight,
                    std::int64_t first, std::int64_t count,
                    const Matrix<float, MemoryOf<ExecutionSpace>>& logits);

/// The same of the piece of each row that a window of single pieces holds.
/// @param active active vocabulary
template <class ExecutionSpace, LogitType Weight>
void multiply_chosen(const ExecutionSpace& space,
                     const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden,
                     const Matrix<const Weight, MemoryOf<ExecutionSpace>>& weight,
                     std::int64_t active, const LogitWindow<MemoryOf<ExecutionSpace>>& window);

}  // namespace tokkos
