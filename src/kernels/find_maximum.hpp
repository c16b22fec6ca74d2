// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/chunk_kernel.hpp"
#include "kernels/row_total.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// The lowest token of row `row` whose logit is `maximum`, the row's maximum. x is the team's
/// scratch.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION TokenId lowest_maximum(const Team& team, const LogitRows<Logit, Space>& rows,
                                       const RowMeasures<Space>& measures, std::int64_t row,
                                       float maximum, float* x) {
  const std::int64_t chunks = chunk_count(rows.active());
  std::int64_t chunk = chunks;
  for (std::int64_t c = team.team_rank(); c < chunks && chunk == chunks; c += team.team_size()) {
    if (measures.chunk_maximum(row, c) == maximum) chunk = c;
  }
  team.team_reduce(Kokkos::Min<std::int64_t>(chunk));
  ChunkSource<Logit> source;
  if (chunk == chunks || !find_chunk(rows, row, chunk, source)) return -1;
  std::int32_t status = 0;
  load_chunk<ExecutionSpace>(team, source, x, status);
  int lowest = chunk_size;
  for (int j = team.team_rank(); j < source.size && lowest == chunk_size; j += team.team_size()) {
    if (x[j] == maximum) lowest = j;
  }
  team.team_reduce(Kokkos::Min<int>(lowest));
  if (lowest == chunk_size) return -1;  // the logits are no longer those that were measured
  return static_cast<TokenId>(chunk * chunk_size + lowest);
}

}  // namespace tokkos
