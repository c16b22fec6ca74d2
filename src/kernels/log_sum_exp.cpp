// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/log_sum_exp.hpp>

#include "kernels/check_views.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/log_probability.hpp"
#include "kernels/named_range.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace, LogitType Logit>
struct LogSumExp {
  using Space = MemoryOf<ExecutionSpace>;
  LogitRows<Logit, Space> rows;
  RowMeasures<Space> measures;
  Vector<float, Space> result;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const IeeeArithmetic ieee;
    const RowTotal total{measures.row_maximum(row), measures.row_mass(row)};
    result(row) = log_sum_exp_of(total, RowTemperature::of(rows, row).inverse);
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void log_sum_exp(const ExecutionSpace& space,
                 const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                 const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                 const Vector<float, MemoryOf<ExecutionSpace>>& result) {
  check_rows(rows);
  check_measures(measures, rows.rows(), rows.vocabulary());
  check_vector("result", result, rows.rows());
  check_apart(std::array{NamedRange::of("result", result)}, {ranges_of(rows), ranges_of(measures)});
  if (rows.rows() == 0) return;
  Kokkos::parallel_for(
      "tokkos::log_sum_exp::rows",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(space, 0, rows.rows()),
      LogSumExp<ExecutionSpace, Logit>{rows, measures, result});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                          \
  template void log_sum_exp<Space, Logit>(const Space&, const LogitRows<Logit, MemoryOf<Space>>&, \
                                          const RowMeasures<MemoryOf<Space>>&,                    \
                                          const Vector<float, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
