// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/normalize_truncated.hpp>

#include "kernels/check_views.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"
#include "kernels/normalize_chunk.hpp"
#include "kernels/probability_row.hpp"
#include "kernels/truncated_row.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct NormalizeTruncated {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  RowCuts<Space> cuts;
  Matrix<float, Space> probabilities;
  std::int64_t chunks;

  /// Writes a chunk of a row that is truncated, or unusable because of its parameters.
  KOKKOS_FUNCTION void write_kept(const Team& team, std::int64_t row, std::int64_t chunk,
                                  const RowCut& cut, InverseTemperature inverse, float* out) const {
    const ChunkRoom room = chunk_room(rows, chunk);
    float* e = chunk_buffer(team);
    int active = 0;
    ChunkSource<Logit> source;
    if (measures.row_mass(row) > 0 && cut.mass > 0 && room.active > 0 &&
        measures.chunk_maximum(row, chunk) >= cut.logit && find_chunk(rows, row, chunk, source)) {
      active = room.active;
      std::int32_t status = 0;
      load_chunk<ExecutionSpace>(team, source, e, status);
      weigh_kept<ExecutionSpace>(team, cut, chunk, measures.row_maximum(row), inverse, e);
    }
    const auto mass = static_cast<float>(cut.mass);
    for_own_places<ExecutionSpace>(team, active, [&](int j) { out[j] = grid_mass(e[j]) / mass; });
    for_own_places<ExecutionSpace>(team, room.places - active,
                                   [&](int j) { out[active + j] = 0.0f; });
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank() / chunks;
    const std::int64_t chunk = team.league_rank() % chunks;
    float* out = &probabilities(row, chunk * chunk_size);
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    const RowCut cut = cut_of(cuts, row, inverse.greedy);
    if (cut.count < 0) {
      normalize_chunk<ExecutionSpace>(team, rows, measures, row, chunk, out);
    } else {
      write_kept(team, row, chunk, cut.count > 0 ? cut : RowCut{}, inverse, out);
    }
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void normalize_truncated(const ExecutionSpace& space,
                         const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                         const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                         const RowCuts<MemoryOf<ExecutionSpace>>& cuts,
                         const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities) {
  check_rows(rows);
  check_measures(measures, rows.rows(), rows.vocabulary());
  check_cuts(cuts, rows.rows());
  check_matrix("probabilities", probabilities, rows.rows(), rows.vocabulary());
  check_overlap(rows, probabilities);
  check_apart(std::array{NamedRange::of("probabilities", probabilities)},
              {ranges_beside_logits(rows), ranges_of(measures), ranges_of(cuts)});
  const std::int64_t chunks = chunk_count(rows.vocabulary());
  launch_teams(
      "tokkos::normalize_truncated::chunks", space, rows.rows() * chunks, chunk_team, chunk_scratch,
      NormalizeTruncated<ExecutionSpace, Logit>{rows, measures, cuts, probabilities, chunks});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void normalize_truncated<Space, Logit>(                                                 \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const RowCuts<MemoryOf<Space>>&, const Matrix<float, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
