// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/top_log_probabilities.hpp>

#include "kernels/check_views.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/log_probability.hpp"
#include "kernels/named_range.hpp"
#include "kernels/order_selection.hpp"
#include "kernels/row_tokens.hpp"

#include <array>

namespace tokkos {

namespace {

static_assert(2 * max_top_tokens <= TopTokens<Kokkos::DefaultHostExecutionSpace>::room);

/// The allowed tokens that a cut keeps.
KOKKOS_INLINE_FUNCTION OrderRange listed_range(const RowCut& cut, float maximum) {
  OrderRange range = OrderRange::of_keys(lowest_allowed_key(), logit_key(maximum));
  if (cut.count >= 0) range.last = Kokkos::max(range.last, order_of(cut.logit, cut.token));
  return range;
}

template <class ExecutionSpace, LogitType Logit>
struct ListTop {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Matrix<TokenId, Space> tokens;
  Matrix<float, Space> result;
  RowCuts<Space> cuts;
  Vector<const std::int32_t, Space> counts;
  int columns;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const int wanted =
        counts.data() == nullptr ? columns : Kokkos::clamp<int>(counts(row), 0, columns);
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    const RowCut cut = cut_of(cuts, row, inverse.greedy);
    const RowLogarithm logarithm = RowLogarithm::of(measures, cut, inverse, row);
    int listed = 0;
    if (wanted > 0 && logarithm.usable) {
      TopTokens<ExecutionSpace> top(team);
      const RowTokens<ExecutionSpace, Logit> row_tokens(rows, measures, row, top.chunk());
      top.gather_first(team, row_tokens, listed_range(cut, logarithm.maximum), wanted);
      listed = top.count() < wanted ? top.count() : wanted;
      for (int i = team.team_rank(); i < top.count(); i += team.team_size()) {
        const int place = top.rank_of(i);
        if (place >= wanted) continue;
        tokens(row, place) = token_of(top[i]);
        result(row, place) = logarithm.of_logit(logit_of(top[i]));
      }
    }
    for (int i = listed + team.team_rank(); i < columns; i += team.team_size()) {
      tokens(row, i) = -1;
      result(row, i) = negative_infinity;
    }
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void top_log_probabilities(const ExecutionSpace& space,
                           const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                           const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                           const Matrix<TokenId, MemoryOf<ExecutionSpace>>& tokens,
                           const Matrix<float, MemoryOf<ExecutionSpace>>& result,
                           const RowCuts<MemoryOf<ExecutionSpace>>& cuts,
                           const Vector<const std::int32_t, MemoryOf<ExecutionSpace>>& counts) {
  const std::int64_t n = rows.rows();
  const auto columns = static_cast<std::int64_t>(tokens.extent(1));
  check_rows(rows);
  check_measures(measures, n, rows.vocabulary());
  require(columns <= max_top_tokens, "tokens.extent", 1, columns, "at most 128 tokens a row");
  check_matrix("tokens", tokens, n, columns);
  check_matrix("result", result, n, columns);
  check_optional_cuts(cuts, n);
  check_optional_vector("counts", counts, n);
  const std::array count_range{NamedRange::of("counts", counts)};
  check_apart(std::array{NamedRange::of("tokens", tokens), NamedRange::of("result", result)},
              {ranges_of(rows), ranges_of(measures), ranges_of(cuts), count_range});
  if (columns == 0) return;
  launch_teams("tokkos::top_log_probabilities::rows", space, n, chunk_team,
               TopTokens<ExecutionSpace>::bytes,
               ListTop<ExecutionSpace, Logit>{rows, measures, tokens, result, cuts, counts,
                                              static_cast<int>(columns)});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void top_log_probabilities<Space, Logit>(                                               \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const Matrix<TokenId, MemoryOf<Space>>&, const Matrix<float, MemoryOf<Space>>&,              \
      const RowCuts<MemoryOf<Space>>&, const Vector<const std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
