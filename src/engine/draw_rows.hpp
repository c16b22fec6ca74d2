// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/draw_tokens.hpp>

#include <cstdint>

namespace tokkos {

/// Draws one token per row that was measured, and truncated if `cuts` are given.
template <class ExecutionSpace, LogitType Logit>
void draw_rows(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
               const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
               const Vector<const float, MemoryOf<ExecutionSpace>>& uniforms,
               const Vector<TokenId, MemoryOf<ExecutionSpace>>& tokens,
               const RowCuts<MemoryOf<ExecutionSpace>>& cuts,
               const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status, GreedyTies ties) {
  if (cuts.count.data() == nullptr) {
    draw(space, rows, measures, uniforms, tokens, row_status, ties);
    return;
  }
  using Space = MemoryOf<ExecutionSpace>;
  const std::size_t n = tokens.extent(0);
  const Matrix<const float, Space> u(uniforms.data(),
                                     Kokkos::LayoutStride(n, uniforms.stride(0), 1, 1));
  const Matrix<TokenId, Space> drawn(tokens.data(),
                                     Kokkos::LayoutStride(n, tokens.stride(0), 1, 1));
  draw_tokens(space, rows, measures, u, drawn, cuts, row_status, ties);
}

}  // namespace tokkos
