// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/log_probabilities.hpp>

#include "kernels/as_column.hpp"
#include "kernels/check_views.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/log_probability.hpp"
#include "kernels/named_range.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct TakeLogarithms {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Matrix<const TokenId, Space> tokens;
  Matrix<float, Space> result;
  RowCuts<Space> cuts;
  Vector<std::int32_t, Space> row_status;
  std::int64_t columns;

  KOKKOS_FUNCTION float of_token(std::int64_t row, TokenId token) const {
    if (token < 0 || token >= rows.active()) return negative_infinity;
    const InverseTemperature inverse = RowTemperature::of(rows, row).inverse;
    const RowCut cut = cut_of(cuts, row, inverse.greedy);
    const RowLogarithm logarithm = RowLogarithm::of(measures, cut, inverse, row);
    ChunkSource<Logit> source;
    if (!logarithm.usable || !find_chunk(rows, row, token / chunk_size, source)) {
      return negative_infinity;
    }
    const int place = token % chunk_size;
    const float x = widen(source.logits[place]);
    const bool allowed = source.template allowed<1>(place) != 0 && x > masked_logit;
    const bool kept = allowed && (cut.count < 0 || cut.keeps(x, token));
    return kept ? logarithm.of_logit(x) : negative_infinity;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    const std::int64_t row = entry / columns;
    const std::int64_t column = entry % columns;
    const TokenId token = tokens(row, column);
    if (token < -1 || token >= rows.vocabulary()) {
      flag_row(row_status, row, RowStatus::invalid_draft);
    }
    result(row, column) = of_token(row, token);
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void log_probabilities(const ExecutionSpace& space,
                       const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                       const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                       const Matrix<const TokenId, MemoryOf<ExecutionSpace>>& tokens,
                       const Matrix<float, MemoryOf<ExecutionSpace>>& result,
                       const RowCuts<MemoryOf<ExecutionSpace>>& cuts,
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  const std::int64_t n = rows.rows();
  const auto columns = static_cast<std::int64_t>(tokens.extent(1));
  check_rows(rows);
  check_measures(measures, n, rows.vocabulary());
  check_matrix("tokens", tokens, n, columns);
  check_matrix("result", result, n, columns);
  check_optional_cuts(cuts, n);
  check_optional_vector("row_status", row_status, n);
  const std::array given{NamedRange::of("tokens", tokens)};
  check_apart(
      std::array{NamedRange::of("result", result), NamedRange::of("row_status", row_status)},
      {ranges_of(rows), ranges_of(measures), ranges_of(cuts), given});
  launch_entries("tokkos::log_probabilities::tokens", space, n * columns,
                 TakeLogarithms<ExecutionSpace, Logit>{rows, measures, tokens, result, cuts,
                                                       row_status, columns});
}

template <class ExecutionSpace, LogitType Logit>
void log_probabilities(const ExecutionSpace& space,
                       const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                       const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                       const Vector<const TokenId, MemoryOf<ExecutionSpace>>& tokens,
                       const Vector<float, MemoryOf<ExecutionSpace>>& result,
                       const RowCuts<MemoryOf<ExecutionSpace>>& cuts,
                       const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  check_vector("tokens", tokens, rows.rows());
  check_vector("result", result, rows.rows());
  log_probabilities<ExecutionSpace, Logit>(space, rows, measures, as_column(tokens),
                                           as_column(result), cuts, row_status);
}

#define TOKKOS_INSTANTIATE_RANK(Space, Logit, Rank)                                                \
  template void log_probabilities<Space, Logit>(                                                   \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&, const RowMeasures<MemoryOf<Space>>&, \
      const Rank<const TokenId, MemoryOf<Space>>&, const Rank<float, MemoryOf<Space>>&,            \
      const RowCuts<MemoryOf<Space>>&, const Vector<std::int32_t, MemoryOf<Space>>&);
#define TOKKOS_INSTANTIATE(Space, Logit)        \
  TOKKOS_INSTANTIATE_RANK(Space, Logit, Matrix) \
  TOKKOS_INSTANTIATE_RANK(Space, Logit, Vector)
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
