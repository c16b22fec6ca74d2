// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>

#include "kernels/check_views.hpp"
#include "kernels/chunk_kernel.hpp"
#include "kernels/edit_logit.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"
#include "kernels/row_total.hpp"
#include "kernels/scale_chunk.hpp"

#include <array>

namespace tokkos {

namespace {

/// What the buffers of a row amount to.
struct StageTotal {
  float largest_max;  // X
  float largest_sum;  // D: only in a row that is not greedy
  std::int64_t mass;  // of exp(chunked_max - X) * exp(chunked_sum - D), or the number of maxima
  bool broken;        // a buffer is NaN: chunk_lse found the row unusable
};

template <class ExecutionSpace, LogitType Logit>
struct SoftmaxStage {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LogitRows<Logit, Space> rows;
  Matrix<const float, Space> chunked_sum;
  Matrix<const float, Space> chunked_max;
  Matrix<float, Space> probabilities;
  Vector<std::int32_t, Space> row_status;
  std::int64_t chunks;

  KOKKOS_FUNCTION bool is_broken(std::int64_t row, std::int64_t c) const {
    return chunked_sum(row, c) != chunked_sum(row, c) || chunked_max(row, c) != chunked_max(row, c);
  }

  KOKKOS_FUNCTION bool counts(std::int64_t row, std::int64_t c, bool greedy) const {
    return greedy ? chunked_sum(row, c) > 0.0f : chunked_sum(row, c) > negative_infinity;
  }

  KOKKOS_FUNCTION StageTotal total(const Team& team, std::int64_t row, bool greedy) const {
    float largest_max = negative_infinity;
    float largest_sum = 0.0f;
    int broken = 0;
    for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
      if (is_broken(row, c)) broken = 1;
      if (!counts(row, c, greedy)) continue;
      largest_max = Kokkos::max(largest_max, chunked_max(row, c) + 0.0f);
      largest_sum = Kokkos::max(largest_sum, chunked_sum(row, c) + 0.0f);
    }
    team.team_reduce(Kokkos::Max<float>(largest_max));
    team.team_reduce(Kokkos::Max<float>(largest_sum));
    team.team_reduce(Kokkos::Max<int>(broken));
    std::int64_t mass = 0;
    for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
      if (!counts(row, c, greedy)) continue;
      if (greedy) {
        // No chunk has more tokens, whatever its buffer says.
        const float most = Kokkos::min(chunked_sum(row, c), static_cast<float>(chunk_size));
        if (chunked_max(row, c) == largest_max) mass += round_to_integer(most);
      } else {
        mass += to_grid(portable_exp(chunked_max(row, c) - largest_max) *
                        portable_exp(chunked_sum(row, c) - largest_sum));
      }
    }
    team.team_reduce(Kokkos::Sum<std::int64_t>(mass));
    return {largest_max, largest_sum, mass, broken != 0};
  }

  KOKKOS_FUNCTION static float stage_factor(float own, const StageTotal& all, bool greedy) {
    if (greedy) return own == all.largest_max ? 1.0f / static_cast<float>(all.mass) : 0.0f;
    return portable_exp(own - all.largest_max) * portable_exp(-all.largest_sum) /
           from_grid(all.mass);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t row = team.league_rank() / chunks;
    const std::int64_t chunk = team.league_rank() % chunks;
    const ChunkRoom room = chunk_room(rows, chunk);
    const RowTemperature temperature = RowTemperature::of(rows, row);
    const InverseTemperature inverse = temperature.inverse;
    const StageTotal all = total(team, row, inverse.greedy);
    float* e = chunk_buffer(team);
    float factor = 0.0f;
    std::int32_t status = temperature.legal ? 0 : RowStatus::invalid_parameter;
    ChunkSource<Logit> source;
    if (status == 0 && !find_chunk(rows, row, chunk, source)) status = RowStatus::invalid_parameter;
    if (status == 0 && all.mass <= 0 && !all.broken) status = RowStatus::empty;
    const bool readable = status == 0 && room.active > 0;
    if (readable && (is_broken(row, chunk) || counts(row, chunk, inverse.greedy))) {
      const float maximum = load_chunk<ExecutionSpace>(team, source, e, status);
      if (status == 0 && is_broken(row, chunk)) status = RowStatus::invalid_parameter;
      if (status == 0 && !all.broken && maximum > negative_infinity) {
        weigh_chunk<ExecutionSpace>(team, source, e, e, maximum, inverse);
        factor = stage_factor(chunked_max(row, chunk), all, inverse.greedy);
      }
    }
    float* out = &probabilities(row, chunk * chunk_size);
    scale_chunk<ExecutionSpace>(team, e, out, factor, room);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { flag_row(row_status, row, status); });
  }
};

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void softmax_with_chunked_sum(const ExecutionSpace& space,
                              const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                              const Matrix<const float, MemoryOf<ExecutionSpace>>& chunked_sum,
                              const Matrix<const float, MemoryOf<ExecutionSpace>>& chunked_max,
                              const Matrix<float, MemoryOf<ExecutionSpace>>& probabilities,
                              const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  check_rows(rows);
  const std::int64_t chunks = chunk_count(rows.vocabulary());
  check_matrix("chunked_sum", chunked_sum, rows.rows(), chunks);
  check_matrix("chunked_max", chunked_max, rows.rows(), chunks);
  check_matrix("probabilities", probabilities, rows.rows(), rows.vocabulary());
  check_overlap(rows, probabilities);
  check_optional_vector("row_status", row_status, rows.rows());
  const std::array written{NamedRange::of("probabilities", probabilities)};
  const std::array chunked{NamedRange::of("chunked_sum", chunked_sum),
                           NamedRange::of("chunked_max", chunked_max)};
  check_apart(written, {ranges_beside_logits(rows), chunked});
  check_apart(std::array{NamedRange::of("row_status", row_status)},
              {ranges_of(rows), chunked, written});
  launch_teams("tokkos::softmax_with_chunked_sum::chunks", space, rows.rows() * chunks, chunk_team,
               chunk_scratch,
               SoftmaxStage<ExecutionSpace, Logit>{rows, chunked_sum, chunked_max, probabilities,
                                                   row_status, chunks});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                        \
  template void softmax_with_chunked_sum<Space, Logit>(                                         \
      const Space&, const LogitRows<Logit, MemoryOf<Space>>&,                                   \
      const Matrix<const float, MemoryOf<Space>>&, const Matrix<const float, MemoryOf<Space>>&, \
      const Matrix<float, MemoryOf<Space>>&, const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
