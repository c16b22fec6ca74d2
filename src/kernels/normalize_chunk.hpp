// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/chunk_kernel.hpp"
#include "kernels/row_total.hpp"
#include "kernels/scale_chunk.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// Writes the probabilities of one chunk of one measured row to `out`, which may be its logits.
/// Uses the team's scratch.
template <class ExecutionSpace, LogitType Logit, class Team, class Space>
KOKKOS_FUNCTION void normalize_chunk(const Team& team, const LogitRows<Logit, Space>& rows,
                                     const RowMeasures<Space>& measures, std::int64_t row,
                                     std::int64_t chunk, float* out) {
  const ChunkRoom room = chunk_room(rows, chunk);
  const RowTotal total{measures.row_maximum(row), measures.row_mass(row)};
  float* e = chunk_buffer(team);
  float factor = 0.0f;
  ChunkSource<Logit> source;
  if (total.mass > 0 && room.active > 0 && find_chunk(rows, row, chunk, source)) {
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    const ChunkPair pair = chunk_pair(measures, row, chunk);
    factor = chunk_factor(pair, total, inverse);
    if (factor > 0.0f) {
      std::int32_t status = 0;
      load_chunk<ExecutionSpace>(team, source, e, status);
      weigh_chunk<ExecutionSpace>(team, source, e, e, pair.maximum, inverse);
    }
  }
  scale_chunk<ExecutionSpace>(team, e, out, factor, room);
}

}  // namespace tokkos
