// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/draw_tokens.hpp>

#include "kernels/check_views.hpp"
#include "kernels/draw_walk.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"
#include "kernels/truncated_row.hpp"
#include "numerics/wrapping_sum.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct DrawSeveral {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Matrix<const float, Space> uniforms;
  Matrix<TokenId, Space> tokens;
  RowCuts<Space> cuts;
  Vector<std::int32_t, Space> row_status;
  GreedyTies ties;
  int draws;

  KOKKOS_FUNCTION bool has_nan(const Team& team, std::int64_t row) const {
    int found = 0;
    for (int i = team.team_rank(); i < draws; i += team.team_size()) {
      const float u = uniforms(row, i);
      found |= u != u ? 1 : 0;
    }
    team.team_reduce(Kokkos::Max<int>(found));
    return found != 0;
  }

  KOKKOS_FUNCTION void write(const Team& team, std::int64_t row, int i, TokenId token) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() { tokens(row, i) = token; });
  }
  KOKKOS_FUNCTION void flag(const Team& team, std::int64_t row) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() { flag_unmeasured(measures, row, row_status); });
  }

  /// All draws of a truncated row in one walk over its kept mass, up to the last one.
  KOKKOS_FUNCTION void walk_kept(const Team& team, std::int64_t row, const RowCut& cut,
                                 InverseTemperature inverse, float* e) const {
    const std::int64_t chunks = chunk_count(rows.active());
    const float maximum = measures.row_maximum(row);
    std::int64_t before = 0;
    int left = draws;
    for (std::int64_t chunk = 0; chunk < chunks && left > 0; ++chunk) {
      ChunkSource<Logit> source;
      if (!(measures.chunk_maximum(row, chunk) >= cut.logit)) continue;
      if (!find_chunk(rows, row, chunk, source)) break;
      std::int32_t status = 0;
      load_chunk<ExecutionSpace>(team, source, e, status);
      const std::int64_t mass = weigh_kept<ExecutionSpace>(team, cut, chunk, maximum, inverse, e);
      for (int i = 0; i < draws; ++i) {
        const std::int64_t target = wrapping_difference(
            floor_of_share(clamped_uniform(uniforms(row, i)), cut.mass), before);
        if (target < 0 || target >= mass) continue;
        const Crossing token = first_crossing(
            team, source.size, [&](std::int64_t j) { return to_grid(e[j]); },
            [&](std::int64_t prefix) { return prefix > target; });
        write(team, row, i, static_cast<TokenId>(chunk * chunk_size + token.index));
        --left;
      }
      before = wrapping_sum(before, mass);
      team.team_barrier();  // no member reads weights any more
    }
    if (left > 0) flag(team, row);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const bool ended = has_nan(team, row);
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    const RowCut cut = cut_of(cuts, row, inverse.greedy);
    float* e = chunk_buffer(team);
    if (!ended && cut.count < 0) {
      for (int i = 0; i < draws; ++i) {
        const TokenId token = drawn_token<ExecutionSpace>(
            team, rows, measures, row, clamped_uniform(uniforms(row, i)), ties, e);
        write(team, row, i, token);
        if (token < 0) flag(team, row);
        team.team_barrier();  // the scratch is free again
      }
      return;
    }
    for (int i = 0; i < draws; ++i) write(team, row, i, -1);
    if (ended) {
      end_row(team, measures, row, row_status);
    } else if (cut.count > 0 && cut.mass > 0 && measures.row_mass(row) > 0) {
      walk_kept(team, row, cut, inverse, e);
    } else {
      flag(team, row);
    }
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void draw_tokens(const ExecutionSpace& space,
                 const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                 const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                 const Matrix<const float, MemoryOf<ExecutionSpace>>& uniforms,
                 const Matrix<TokenId, MemoryOf<ExecutionSpace>>& tokens,
                 const RowCuts<MemoryOf<ExecutionSpace>>& cuts,
                 const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status,
                 GreedyTies ties) {
  const std::int64_t n = rows.rows();
  const auto draws = static_cast<std::int64_t>(tokens.extent(1));
  check_rows(rows);
  check_ties(ties);
  check_measures(measures, n, rows.vocabulary());
  check_draws(draws);
  check_matrix("tokens", tokens, n, draws);
  check_matrix("uniforms", uniforms, n, draws);
  check_optional_cuts(cuts, n);
  check_optional_vector("row_status", row_status, n);
  const std::array uniform_range{NamedRange::of("uniforms", uniforms)};
  check_apart(
      std::array{NamedRange::of("tokens", tokens), NamedRange::of("row_status", row_status)},
      {ranges_of(rows), ranges_of(measures), ranges_of(cuts), uniform_range});
  if (draws == 0) return;
  launch_teams("tokkos::draw_tokens::rows", space, n, chunk_team, chunk_scratch,
               DrawSeveral<ExecutionSpace, Logit>{rows, measures, uniforms, tokens, cuts,
                                                  row_status, ties, static_cast<int>(draws)});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void draw_tokens<Space, Logit>(                                                         \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const Matrix<const float, MemoryOf<Space>>&, const Matrix<TokenId, MemoryOf<Space>>&,        \
      const RowCuts<MemoryOf<Space>>&, const Vector<std::int32_t, MemoryOf<Space>>&, GreedyTies);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
