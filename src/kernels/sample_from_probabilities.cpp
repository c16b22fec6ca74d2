// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/sample_from_probabilities.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"
#include "kernels/probability_row.hpp"

#include <array>

namespace tokkos {

namespace {

template <class ExecutionSpace>
struct SampleRows {
  using Space = MemoryOf<ExecutionSpace>;
  Matrix<const float, Space> probabilities;
  Vector<const float, Space> uniforms;
  Vector<TokenId, Space> tokens;
  Vector<std::int32_t, Space> row_status;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank();
    const auto vocabulary = static_cast<std::int64_t>(probabilities.extent(1));
    const float* given = &probabilities(row, 0);
    const RowScratch scratch = row_scratch_of(team);
    const auto chunk = [&](std::int64_t start, int, float*) { return given + start; };
    const OwnSum total = sum_chunks(
        team, vocabulary,
        [&](std::int64_t start, int length) {
          return sum_given<ExecutionSpace>(team, length, given + start, largest_given);
        },
        scratch.masses);
    std::int32_t status = 0;
    const TokenId token = draw_from_row(team, vocabulary, chunk, uniforms(row), total,
                                        scratch.masses, scratch.chunk, true, status);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      tokens(row) = token;
      flag_row(row_status, row, status);
    });
  }
};

}  // namespace

template <class ExecutionSpace>
void sample_from_probabilities(const ExecutionSpace& space,
                               const Matrix<const float, MemoryOf<ExecutionSpace>>& probabilities,
                               const Vector<const float, MemoryOf<ExecutionSpace>>& uniforms,
                               const Vector<TokenId, MemoryOf<ExecutionSpace>>& tokens,
                               const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  const auto rows = static_cast<std::int64_t>(probabilities.extent(0));
  const auto vocabulary = static_cast<std::int64_t>(probabilities.extent(1));
  check_vocabulary(vocabulary, 0);
  check_matrix("probabilities", probabilities, rows, vocabulary);
  check_vector("uniforms", uniforms, rows);
  check_vector("tokens", tokens, rows);
  check_optional_vector("row_status", row_status, rows);
  check_apart(
      std::array{NamedRange::of("tokens", tokens), NamedRange::of("row_status", row_status)},
      {std::array{NamedRange::of("the probabilities", probabilities),
                  NamedRange::of("uniforms", uniforms)}});
  launch_teams("tokkos::sample_from_probabilities::rows", space, rows, chunk_team, row_scratch,
               SampleRows<ExecutionSpace>{probabilities, uniforms, tokens, row_status});
}

#define TOKKOS_INSTANTIATE(Space)                                                           \
  template void sample_from_probabilities<Space>(                                           \
      const Space&, const Matrix<const float, MemoryOf<Space>>&,                            \
      const Vector<const float, MemoryOf<Space>>&, const Vector<TokenId, MemoryOf<Space>>&, \
      const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
