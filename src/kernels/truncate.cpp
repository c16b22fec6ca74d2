// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/truncate.hpp>
#include <tokkos/numerics/wide_product.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/find_cut.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct TruncateRows {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Truncation<Space> truncation;
  RowCuts<Space> cuts;
  Vector<std::int32_t, Space> row_status;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const CutScratch<ExecutionSpace> scratch(team);
    const RowTotal total{measures.row_maximum(row), measures.row_mass(row)};
    const RowLimits limits = RowLimits::of(truncation, row);
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    RowCut cut;
    if (!limits.are_legal()) {
      team.team_barrier();  // every member has read the row's total
      Kokkos::single(Kokkos::PerTeam(team), [&]() {
        flag_row(row_status, row, RowStatus::invalid_parameter);
        measures.row_maximum(row) = negative_infinity;  // nothing else is made of the row
        measures.row_mass(row) = 0;
      });
    } else if (total.mass > 0) {
      const RowLimits effective = limits.without_idle(rows.active());
      if (inverse.greedy || effective.is_off()) {
        cut.count = -1;
      } else {
        const RowTokens<ExecutionSpace, Logit> tokens(rows, measures, row, scratch.logits);
        const TokenWeight weight{total.maximum, inverse.value};
        cut = find_cut(team, tokens, weight, total, effective, scratch);
      }
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      cuts.logit(row) = cut.logit;
      cuts.token(row) = cut.token;
      cuts.mass(row) = cut.mass;
      cuts.count(row) = cut.count;
      // The logits are no longer those that were measured.
      if (cut.count == 0 && measures.row_mass(row) > 0) flag_row(row_status, row, RowStatus::empty);
    });
  }
};

/// Throws unless a parameter is left out, the same for all rows, or given for each.
template <class T, class Space>
void check_parameter(const char* name, const Vector<T, Space>& values, std::int64_t rows) {
  if (values.data() == nullptr && values.extent(0) == 0) return;
  check_row_values(name, values, rows);
}

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void truncate(const ExecutionSpace& space, const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
              const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
              const Truncation<MemoryOf<ExecutionSpace>>& truncation,
              const RowCuts<MemoryOf<ExecutionSpace>>& cuts,
              const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  const std::int64_t n = rows.rows();
  check_rows(rows);
  check_measures(measures, n, rows.vocabulary());
  check_parameter("top_k", truncation.top_k, n);
  check_parameter("top_p", truncation.top_p, n);
  check_parameter("min_p", truncation.min_p, n);
  check_vector("cuts.logit", cuts.logit, n);
  check_vector("cuts.token", cuts.token, n);
  check_vector("cuts.mass", cuts.mass, n);
  check_vector("cuts.count", cuts.count, n);
  check_optional_vector("row_status", row_status, n);
  const std::array limits{NamedRange::of("top_k", truncation.top_k),
                          NamedRange::of("top_p", truncation.top_p),
                          NamedRange::of("min_p", truncation.min_p)};
  check_apart(joined(ranges_of(cuts), std::array{NamedRange::of("row_status", row_status)}),
              {ranges_of(rows), ranges_of(measures), limits});
  launch_teams("tokkos::truncate::rows", space, n, truncate_team, CutScratch<ExecutionSpace>::bytes,
               TruncateRows<ExecutionSpace, Logit>{rows, measures, truncation, cuts, row_status});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void truncate<Space, Logit>(                                                            \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const Truncation<MemoryOf<Space>>&, const RowCuts<MemoryOf<Space>>&,                         \
      const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
