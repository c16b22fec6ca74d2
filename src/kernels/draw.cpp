// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/draw.hpp>

#include "kernels/check_views.hpp"
#include "kernels/draw_walk.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct DrawTokens {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Vector<const float, Space> uniforms;
  Vector<TokenId, Space> tokens;
  Vector<std::int32_t, Space> row_status;
  GreedyTies ties;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const float u = clamped_uniform(uniforms(row));
    TokenId token = -1;
    if (u != u) {
      end_row(team, measures, row, row_status);
    } else {
      token = drawn_token<ExecutionSpace>(team, rows, measures, row, u, ties, chunk_buffer(team));
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      tokens(row) = token;
      if (token < 0) flag_unmeasured(measures, row, row_status);
    });
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void draw(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
          const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
          const Vector<const float, MemoryOf<ExecutionSpace>>& uniforms,
          const Vector<TokenId, MemoryOf<ExecutionSpace>>& tokens,
          const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status, GreedyTies ties) {
  check_rows(rows);
  check_ties(ties);
  check_measures(measures, rows.rows(), rows.vocabulary());
  check_vector("uniforms", uniforms, rows.rows());
  check_vector("tokens", tokens, rows.rows());
  check_optional_vector("row_status", row_status, rows.rows());
  const std::array uniform_range{NamedRange::of("uniforms", uniforms)};
  check_apart(
      std::array{NamedRange::of("tokens", tokens), NamedRange::of("row_status", row_status)},
      {ranges_of(rows), ranges_of(measures), uniform_range});
  launch_teams(
      "tokkos::draw::rows", space, rows.rows(), chunk_team, chunk_scratch,
      DrawTokens<ExecutionSpace, Logit>{rows, measures, uniforms, tokens, row_status, ties});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void draw<Space, Logit>(                                                                \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const Vector<const float, MemoryOf<Space>>&, const Vector<TokenId, MemoryOf<Space>>&,        \
      const Vector<std::int32_t, MemoryOf<Space>>&, GreedyTies);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
