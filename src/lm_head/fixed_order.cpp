// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "lm_head/fixed_order.hpp"

#include "kernels/instantiate.hpp"
#include "kernels/launch.hpp"
#include "lm_head/lane_sums.hpp"
#include "lm_head/pieces.hpp"

#include <cstddef>
#include <type_traits>

namespace tokkos {

namespace {

/// Tokens of a team: on a host few enough for their weights to stay in the cache while all rows
/// pass by.
template <class ExecutionSpace>
inline constexpr std::int64_t tile_size = runs_on_host<ExecutionSpace> ? 16 : device_tile;

/// Rows of a team.
template <class ExecutionSpace>
inline constexpr std::int64_t tile_rows = runs_on_host<ExecutionSpace> ? std::int64_t{1} << 31 : 16;

/// Team scratch: on a host for a tile of weights of 16 bits, which are widened once if several
/// groups of rows read them.
template <class ExecutionSpace, LogitType Weight>
std::size_t tile_scratch(std::int64_t rows, std::int64_t size) {
  if (!runs_on_host<ExecutionSpace>) return product_scratch;
  if (std::is_same_v<Weight, float> || rows <= rows_of_group) return 0;
  return static_cast<std::size_t>(tile_size<ExecutionSpace> * size) * sizeof(float) + 64;
}

/// Widens `count` rows of weights to `to`.
template <LogitType Weight>
KOKKOS_FUNCTION WeightRows<float> widened(const WeightRows<Weight>& weights, std::int64_t count,
                                          float* KOKKOS_RESTRICT to) {
  for (std::int64_t t = 0; t < count; ++t) {
    const Weight* KOKKOS_RESTRICT from = weights.first + t * weights.stride;
    float* KOKKOS_RESTRICT row = to + t * weights.size;
    for (std::int64_t k = 0; k < weights.size; ++k) row[k] = widen(from[k]);
  }
  return {to, weights.size, weights.size};
}

/// What every team has: the operands, and how a tile of tokens is found in the weights.
template <class ExecutionSpace, LogitType Weight>
struct Operands {
  using Space = MemoryOf<ExecutionSpace>;
  Matrix<const float, Space> hidden;
  Matrix<const Weight, Space> weight;

  KOKKOS_FUNCTION WeightRows<Weight> from(std::int64_t token) const {
    const auto stride = static_cast<std::int64_t>(weight.stride(0));
    return {weight.data() + token * stride, stride, static_cast<std::int64_t>(weight.extent(1))};
  }
};

template <class Team>
KOKKOS_FUNCTION float* scratch_of(const Team& team, std::size_t bytes) {
  return static_cast<float*>(team.team_scratch(0).get_shmem_aligned(bytes - 64, 64));
}

/// A tile of tokens for some rows.
template <class ExecutionSpace, LogitType Weight>
struct MultiplyBlock {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  Operands<ExecutionSpace, Weight> operands;
  Matrix<float, Space> logits;
  std::int64_t first;
  std::int64_t count;
  std::int64_t tiles;
  std::size_t scratch_bytes;

  /// Tokens of the tile that begins there.
  KOKKOS_FUNCTION std::int64_t tokens_from(std::int64_t column) const {
    const std::int64_t size = tile_size<ExecutionSpace>;  // device code has no address of the other
    return Kokkos::min(size, count - column);
  }

  template <LogitType Read>
  KOKKOS_FUNCTION void multiply_rows(const Team& team, const WeightRows<Read>& weights,
                                     std::int64_t column, float* scratch) const {
    const std::int64_t begin = team.league_rank() / tiles * tile_rows<ExecutionSpace>;
    const std::int64_t end = Kokkos::min(begin + tile_rows<ExecutionSpace>,
                                         static_cast<std::int64_t>(operands.hidden.extent(0)));
    const std::int64_t tokens = tokens_from(column);
    for (std::int64_t row = begin; row < end; row += rows_of_group) {
      RowGroup group;
      for (std::int64_t r = row; r < end && r < row + rows_of_group; ++r) {
        group.add(&operands.hidden(r, 0), &logits(r, column));
      }
      multiply_group<ExecutionSpace>(team, group, weights, tokens, scratch);
    }
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t column = team.league_rank() % tiles * tile_size<ExecutionSpace>;
    const WeightRows<Weight> weights = operands.from(first + column);
    float* scratch = scratch_bytes == 0 ? nullptr : scratch_of(team, scratch_bytes);
    if constexpr (runs_on_host<ExecutionSpace> && !std::is_same_v<Weight, float>) {
      if (scratch != nullptr) {
        multiply_rows(team, widened(weights, tokens_from(column), scratch), column, nullptr);
        return;
      }
    }
    multiply_rows(team, weights, column, scratch);
  }
};

/// A tile of one piece's tokens for the rows that have chosen the piece.
template <class ExecutionSpace, LogitType Weight>
struct MultiplyChosen {
  using Space = MemoryOf<ExecutionSpace>;
  static constexpr std::int64_t size = tile_size<ExecutionSpace>;
  static constexpr std::int64_t tiles = piece_size / size;
  Operands<ExecutionSpace, Weight> operands;
  LogitWindow<Space> window;
  std::int64_t active;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    const IeeeArithmetic ieee;
    const std::int64_t start = window.first_start + team.league_rank() / tiles * piece_size;
    const std::int64_t column = team.league_rank() % tiles * size;
    const std::int64_t most = size;  // device code has no address of the other
    const std::int64_t count = Kokkos::min(most, active - (start + column));
    if (count <= 0) return;
    const WeightRows<Weight> weights = operands.from(start + column);
    float* scratch = runs_on_host<ExecutionSpace> ? nullptr : scratch_of(team, product_scratch);
    const auto rows = static_cast<std::int64_t>(operands.hidden.extent(0));
    RowGroup group;
    for (std::int64_t row = 0; row < rows; ++row) {
      if (window.starts(row) == start) {
        group.add(&operands.hidden(row, 0), &window.logits(row, column));
      }
      if (group.count == rows_of_group || (row == rows - 1 && group.count > 0)) {
        multiply_group<ExecutionSpace>(team, group, weights, count, scratch);
        group.count = 0;
      }
    }
  }
};

struct NoWork {
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team&) const {}
};

}  // namespace

template <class ExecutionSpace, LogitType Weight>
void reserve_scratch(const ExecutionSpace& space, std::int64_t rows, std::int64_t size) {
  const std::size_t scratch = tile_scratch<ExecutionSpace, Weight>(rows, size);
  if (!runs_on_host<ExecutionSpace> || scratch == 0) return;
  launch_teams("tokkos::lm_head::reserve_scratch", space, 1, product_team, scratch, NoWork{});
}

template <class ExecutionSpace, LogitType Weight>
void multiply_block(const ExecutionSpace& space,
                    const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden,
                    const Matrix<const Weight, MemoryOf<ExecutionSpace>>& weight,
                    std::int64_t first, std::int64_t count,
                    const Matrix<float, MemoryOf<ExecutionSpace>>& logits) {
  constexpr std::int64_t size = tile_size<ExecutionSpace>;
  const std::int64_t tiles = (count + size - 1) / size;
  const std::int64_t rows = tile_rows<ExecutionSpace>;
  const std::int64_t parts = (static_cast<std::int64_t>(hidden.extent(0)) + rows - 1) / rows;
  const std::size_t scratch = tile_scratch<ExecutionSpace, Weight>(
      static_cast<std::int64_t>(hidden.extent(0)), static_cast<std::int64_t>(weight.extent(1)));
  launch_teams("tokkos::lm_head::multiply", space, tiles * parts, product_team, scratch,
               MultiplyBlock<ExecutionSpace, Weight>{
                   {hidden, weight}, logits, first, count, tiles, scratch});
}

template <class ExecutionSpace, LogitType Weight>
void multiply_chosen(const ExecutionSpace& space,
                     const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden,
                     const Matrix<const Weight, MemoryOf<ExecutionSpace>>& weight,
                     std::int64_t active, const LogitWindow<MemoryOf<ExecutionSpace>>& window) {
  using Functor = MultiplyChosen<ExecutionSpace, Weight>;
  const std::int64_t pieces = (active - window.first_start + piece_size - 1) / piece_size;
  launch_teams("tokkos::lm_head::multiply_chosen", space, pieces * Functor::tiles, product_team,
               runs_on_host<ExecutionSpace> ? 0 : product_scratch,
               Functor{{hidden, weight}, window, active});
}

#define TOKKOS_INSTANTIATE(Space, Weight)                                                    \
  template void reserve_scratch<Space, Weight>(const Space&, std::int64_t, std::int64_t);    \
  template void multiply_block<Space, Weight>(                                               \
      const Space&, const Matrix<const float, MemoryOf<Space>>&,                             \
      const Matrix<const Weight, MemoryOf<Space>>&, std::int64_t, std::int64_t,              \
      const Matrix<float, MemoryOf<Space>>&);                                                \
  template void multiply_chosen<Space, Weight>(const Space&,                                 \
                                               const Matrix<const float, MemoryOf<Space>>&,  \
                                               const Matrix<const Weight, MemoryOf<Space>>&, \
                                               std::int64_t, const LogitWindow<MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
