// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/chunk_kernel.hpp"
#include "kernels/row_total.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// The first chunk of row `row` that has `maximum`, the row's maximum; -1 if none has. Every member
/// gets it.
template <class Team, class Space>
KOKKOS_FUNCTION std::int64_t chunk_of_maximum(const Team& team, const RowMeasures<Space>& measures,
                                              std::int64_t row, std::int64_t chunks,
                                              float maximum) {
  std::int64_t chunk = chunks;
  for (std::int64_t c = team.team_rank(); c < chunks && chunk == chunks; c += team.team_size()) {
    if (measures.chunk_maximum(row, c) == maximum) chunk = c;
  }
  team.team_reduce(Kokkos::Min<std::int64_t>(chunk));
  return chunk == chunks ? -1 : chunk;
}

/// The first place of a chunk whose logit is `maximum`; -1 if the logits are no longer those that
/// were measured. x is the team's scratch.
template <class ExecutionSpace, LogitType Logit, class Team>
KOKKOS_FUNCTION int place_of_maximum(const Team& team, const ChunkSource<Logit>& source,
                                     float maximum, float* x) {
  std::int32_t status = 0;
  load_chunk<ExecutionSpace>(team, source, x, status);
  int lowest = chunk_size;
  for (int j = team.team_rank(); j < source.size && lowest == chunk_size; j += team.team_size()) {
    if (x[j] == maximum) lowest = j;
  }
  team.team_reduce(Kokkos::Min<int>(lowest));
  return lowest == chunk_size ? -1 : lowest;
}

/// The lowest token of row `row` whose logit is `maximum`, the row's maximum. x is the team's
/// scratch.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION TokenId lowest_maximum(const Team& team, const LogitRows<Logit, Space>& rows,
                                       const RowMeasures<Space>& measures, std::int64_t row,
                                       float maximum, float* x) {
  const std::int64_t chunk =
      chunk_of_maximum(team, measures, row, chunk_count(rows.active()), maximum);
  ChunkSource<Logit> source;
  if (chunk < 0 || !find_chunk(rows, row, chunk, source)) return -1;
  const int place = place_of_maximum<ExecutionSpace>(team, source, maximum, x);
  return place < 0 ? -1 : static_cast<TokenId>(chunk * chunk_size + place);
}

}  // namespace tokkos
