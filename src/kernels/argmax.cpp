// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/argmax.hpp>

#include "kernels/check_views.hpp"
#include "kernels/find_maximum.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct FindMaxima {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Vector<TokenId, Space> tokens;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    TokenId token = -1;
    if (measures.row_mass(row) > 0) {
      token = lowest_maximum<ExecutionSpace>(team, rows, measures, row, measures.row_maximum(row),
                                             chunk_buffer(team));
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() { tokens(row) = token; });
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void argmax(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
            const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
            const Vector<TokenId, MemoryOf<ExecutionSpace>>& tokens) {
  check_rows(rows);
  check_measures(measures, rows.rows(), rows.vocabulary());
  check_vector("tokens", tokens, rows.rows());
  check_apart(std::array{NamedRange::of("tokens", tokens)}, {ranges_of(rows), ranges_of(measures)});
  launch_teams("tokkos::argmax::rows", space, rows.rows(), chunk_team, chunk_scratch,
               FindMaxima<ExecutionSpace, Logit>{rows, measures, tokens});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                     \
  template void argmax<Space, Logit>(const Space&, const LogitRows<Logit, MemoryOf<Space>>&, \
                                     const RowMeasures<MemoryOf<Space>>&,                    \
                                     const Vector<TokenId, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
