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
struct ChoosePlaces {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<float, Space> rows;
  RowMeasures<Space> measures;
  PieceMasses<Space> pieces;
  LmHeadOutputs<Space> outputs;
  DrawPlaces<Space> places;

  KOKKOS_FUNCTION DrawPlace place_of(const Team& team, std::int64_t row, float u) const {
    const RowTotal total{measures.row_maximum(row), measures.row_mass(row)};
    if (total.mass <= 0) return {};
    const std::int64_t chunks = chunk_count(rows.active());
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    if (takes_lowest(inverse, outputs.ties)) {
      // Its first token of any weight.
      return {chunk_of_maximum(team, measures, row, chunks, total.maximum), 0, 1};
    }
    return place_at(team, measures, row, chunks, floor_of_share(u, total.mass), total.maximum,
                    inverse);
  }

  /// The piece of a forgotten chunk in which the draw ends; `sum` receives the mass of all.
  KOKKOS_FUNCTION Crossing piece_of(const Team& team, const std::int64_t* masses,
                                    const DrawPlace& place, std::int64_t& sum) const {
    sum = 0;
    for (int p = 0; p < pieces_per_chunk; ++p) sum += masses[p];
    const WeightedDraw draw(place, sum);
    return first_crossing(
        team, pieces_per_chunk, [&](std::int64_t p) { return masses[p]; },
        [&](std::int64_t prefix) { return draw.is_reached(prefix); });
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
    std::int64_t start = place.chunk < 0 ? -1 : place.chunk * chunk_size, sum = 0;
    Crossing piece{0, 0};
    if (const std::int64_t* masses = pieces.of_chunk(row, place.chunk); masses != nullptr) {
      piece = piece_of(team, masses, place, sum);
      start = piece.index < 0 ? -1 : start + piece.index * piece_size;
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      places.start(row) = start;
      places.rest(row) = place.rest;
      places.mass(row) = place.mass;
      places.before(row) = piece.before;
      places.sum(row) = sum;
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

  /// Number of the token in its chunk, which is in memory; -1 for none.
  KOKKOS_FUNCTION std::int64_t drawn_in_chunk(const Team& team, std::int64_t row,
                                              const DrawPlace& place, InverseTemperature inverse,
                                              const ChunkSource<float>& source) const {
    float* e = chunk_buffer(team);
    if (takes_lowest(inverse, outputs.ties)) {
      return place_of_maximum<ExecutionSpace>(team, source, measures.row_maximum(row), e);
    }
    return token_in_chunk<ExecutionSpace>(team, source, place,
                                          measures.chunk_maximum(row, place.chunk), inverse, e);
  }

  /// The same where only the piece is there that begins at place `first` of the chunk, at `x`.
  KOKKOS_FUNCTION std::int64_t drawn_in_piece(const Team& team, std::int64_t row,
                                              const DrawPlace& place, InverseTemperature inverse,
                                              const ChunkSource<float>& source, int first,
                                              const float* x) const {
    const WeightedDraw draw(place, places.sum(row));
    const std::int64_t before = places.before(row);
    const float maximum = measures.chunk_maximum(row, place.chunk);
    const int left = source.size - first;
    const int count = left < piece_size ? left : piece_size;
    const auto allowed = [&](std::int64_t j) {
      return source.template allowed<1>(first + static_cast<int>(j)) != 0;
    };
    const auto logit = [&](std::int64_t j) {
      return allowed(j) ? at_most(unmasked(x[j]), maximum) : negative_infinity;
    };
    const auto mass = [&](std::int64_t j) { return to_grid(inverse.weight(logit(j), maximum)); };
    const Crossing token = first_crossing(
        team, count, mass, [&](std::int64_t prefix) { return draw.is_reached(before + prefix); });
    const std::int64_t drawn = token.index >= 0 ? token.index : largest_of(team, count, logit);
    return drawn < count ? first + drawn : -1;
  }

  /// A logit as far as it was measured: a product that gives other bits the second time may exceed
  /// the maximum of the first, or give no number.
  KOKKOS_FUNCTION static float at_most(float x, float maximum) {
    if (x > maximum) return maximum;
    return x == x ? x : negative_infinity;
  }

  /// The first of the largest logits: where a product gave other bits than before, the mass that
  /// was drawn may lie behind the piece. `count` if they are all forbidden.
  template <class Logit>
  KOKKOS_FUNCTION std::int64_t largest_of(const Team& team, int count, const Logit& logit) const {
    float largest = negative_infinity;
    for (int j = team.team_rank(); j < count; j += team.team_size()) {
      largest = Kokkos::max(largest, logit(j));
    }
    team.team_reduce(Kokkos::Max<float>(largest));
    if (largest == negative_infinity) return count;
    int place = count;
    for (int j = team.team_rank(); j < place; j += team.team_size()) {
      if (logit(j) == largest) place = j;
    }
    team.team_reduce(Kokkos::Min<int>(place));
    return place;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const std::int64_t start = places.start(row);
    const DrawPlace place{start < 0 ? -1 : start / chunk_size, places.rest(row), places.mass(row)};
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    ChunkSource<float> source;
    std::int64_t token = -1;
    float logit = 0.0f;
    if (place.chunk >= 0 && find_chunk_mask(rows, row, place.chunk, source)) {
      const bool is_there = window.holds(row, start);
      const float* x = &window.logits(row, is_there ? start - window.first : 0);
      const int first = is_there ? 0 : static_cast<int>(start % chunk_size);
      source.next = 0;  // no other chunk is read
      source.logits = x;
      token = is_there ? drawn_in_chunk(team, row, place, inverse, source)
                       : drawn_in_piece(team, row, place, inverse, source, first, x);
      // A greedy row draws one of its maxima.
      const float maximum = measures.row_maximum(row);
      if (token >= 0) logit = inverse.greedy ? maximum : at_most(x[token - first], maximum);
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      outputs.tokens(row) = token < 0 ? -1 : static_cast<TokenId>(place.chunk * chunk_size + token);
      // A second product left nothing of what the first one measured.
      if (token < 0 && place.chunk >= 0) flag_row(outputs.row_status, row, RowStatus::empty);
      if (outputs.token_logprobs.data() == nullptr) return;
      RowCut all;
      all.count = -1;
      const RowLogarithm logarithm = RowLogarithm::of(measures, all, inverse, row);
      outputs.token_logprobs(row) = token < 0 ? negative_infinity : logarithm.of_logit(logit);
    });
  }
};

}  // namespace

template <class ExecutionSpace>
void choose_places(const ExecutionSpace& space,
                   const LogitRows<float, MemoryOf<ExecutionSpace>>& rows,
                   const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                   const PieceMasses<MemoryOf<ExecutionSpace>>& pieces,
                   const LmHeadOutputs<MemoryOf<ExecutionSpace>>& outputs,
                   const DrawPlaces<MemoryOf<ExecutionSpace>>& places) {
  launch_teams("tokkos::lm_head::choose", space, rows.rows(), row_team, 0,
               ChoosePlaces<ExecutionSpace>{rows, measures, pieces, outputs, places});
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
  template void choose_places<Space>(                                                              \
      const Space&, const LogitRows<float, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const PieceMasses<MemoryOf<Space>>&, const LmHeadOutputs<MemoryOf<Space>>&,                  \
      const DrawPlaces<MemoryOf<Space>>&);                                                         \
  template void draw_chosen<Space>(                                                                \
      const Space&, const LogitRows<float, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const DrawPlaces<MemoryOf<Space>>&, const LogitWindow<MemoryOf<Space>>&,                     \
      const LmHeadOutputs<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
