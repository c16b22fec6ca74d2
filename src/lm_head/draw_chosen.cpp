// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "lm_head/draw_chosen.hpp"

#include "kernels/draw_walk.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/log_probability.hpp"

namespace tokkos {

namespace {

/// Whether a row takes the lowest of its maxima, without its uniform.
KOKKOS_INLINE_FUNCTION bool takes_lowest(InverseTemperature inverse, GreedyTies ties) {
  return inverse.greedy && ties == GreedyTies::lowest_id;
}

template <class ExecutionSpace>
struct ChooseChunks {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<float, Space> rows;
  RowMeasures<Space> measures;
  LmHeadOutputs<Space> outputs;
  DrawPlaces<Space> places;

  KOKKOS_FUNCTION DrawPlace place_of(const Team& team, std::int64_t row, float u) const {
    const RowTotal total{measures.row_maximum(row), measures.row_mass(row)};
    if (total.mass <= 0) return {};
    const std::int64_t chunks = chunk_count(rows.active());
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    if (takes_lowest(inverse, outputs.ties)) {
      return {chunk_of_maximum(team, measures, row, chunks, total.maximum), 0, 0};
    }
    return place_at(team, measures, row, chunks, floor_of_share(u, total.mass), total.maximum,
                    inverse);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const float u = clamped_uniform(outputs.uniforms(row));
    DrawPlace place;
    if (u != u) {
      end_row(team, measures, row, outputs.row_status);
    } else {
      place = place_of(team, row, u);
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      places.chunk(row) = place.chunk;
      places.rest(row) = place.rest;
      places.mass(row) = place.mass;
    });
  }
};

template <class ExecutionSpace>
struct DrawChosen {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<float, Space> rows;
  RowMeasures<Space> measures;
  DrawPlaces<Space> places;
  LogitWindow<Space> window;
  LmHeadOutputs<Space> outputs;

  /// Number of the token in its chunk, -1 for none.
  KOKKOS_FUNCTION std::int64_t drawn(const Team& team, std::int64_t row, const DrawPlace& place,
                                     InverseTemperature inverse, const ChunkSource<float>& source,
                                     float* e) const {
    if (takes_lowest(inverse, outputs.ties)) {
      return place_of_maximum<ExecutionSpace>(team, source, measures.row_maximum(row), e);
    }
    return token_in_chunk<ExecutionSpace>(team, source, place,
                                          measures.chunk_maximum(row, place.chunk), inverse, e);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const DrawPlace place{places.chunk(row), places.rest(row), places.mass(row)};
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    float* e = chunk_buffer(team);
    ChunkSource<float> source;
    std::int64_t token = -1;
    if (place.chunk >= 0 && find_chunk_mask(rows, row, place.chunk, source)) {
      const std::int64_t first = place.chunk * chunk_size;
      source.next = 0;  // no other chunk is read
      source.logits = &window.logits(row, window.holds(row, first) ? first - window.first : 0);
      token = drawn(team, row, place, inverse, source, e);
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      outputs.tokens(row) = token < 0 ? -1 : static_cast<TokenId>(place.chunk * chunk_size + token);
      if (outputs.token_logprobs.data() == nullptr) return;
      RowCut all;
      all.count = -1;
      const RowLogarithm logarithm = RowLogarithm::of(measures, all, inverse, row);
      outputs.token_logprobs(row) =
          token < 0 ? negative_infinity : logarithm.of_logit(source.logits[token]);
    });
  }
};

}  // namespace

template <class ExecutionSpace>
void choose_chunks(const ExecutionSpace& space,
                   const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
                   const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                   const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs,
                   const DrawPlaces<MemoryOf<ExecutionSpace>>& places) {
  launch_teams("tokkos::lm_head::choose", space, rows.rows(), row_team, 0,
               ChooseChunks<ExecutionSpace>{rows, measures, outputs, places});
}

template <class ExecutionSpace>
void draw_chosen(const ExecutionSpace& space,
                 const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
                 const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                 const DrawPlaces<MemoryOf<ExecutionSpace>>& places,
                 const LogitWindow<MemoryOf<ExecutionSpace>>& window,
                 const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs) {
  launch_teams("tokkos::lm_head::draw", space, rows.rows(), chunk_team, chunk_scratch,
               DrawChosen<ExecutionSpace>{rows, measures, places, window, outputs});
}

#define TOKKOS_INSTANTIATE(Space)                                                                  \
  template void choose_chunks<Space>(                                                              \
      const Space&, const LogitRows<float, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const LmHeadOutputs<MemoryOf<Space>>&, const DrawPlaces<MemoryOf<Space>>&);                  \
  template void draw_chosen<Space>(                                                                \
      const Space&, const LogitRows<float, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const DrawPlaces<MemoryOf<Space>>&, const LogitWindow<MemoryOf<Space>>&,                     \
      const LmHeadOutputs<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
