// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/numerics/stored_logit.hpp>

#include "kernels/launch.hpp"
#include "numerics/product_tile.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

// Products of hidden states and weights in a fixed order: sum l of 16 takes the elements l, l + 16,
// l + 32, ... by one fma each, and the 16 sums are added in halves. Whoever computes which sums,
// the additions are the same.

namespace tokkos {

/// Sums of a product.
inline constexpr int lanes = 16;

/// Rows that are multiplied together, so that a weight is read once for all of them.
inline constexpr int rows_of_group = 4;

/// Up to four rows: where their hidden states stand, and where the logit of the first token of
/// interest is to be written.
struct RowGroup {
  const float* hidden[rows_of_group];
  float* logits[rows_of_group];
  int count = 0;

  KOKKOS_FORCEINLINE_FUNCTION void add(const float* from, float* to) {
    hidden[count] = from;
    logits[count] = to;
    ++count;
  }
};

/// [tokens, d] weights.
template <LogitType Weight>
struct WeightRows {
  const Weight* first;
  std::int64_t stride;
  std::int64_t size;  ///< d
};

/// Adds the 16 sums of one product.
KOKKOS_FORCEINLINE_FUNCTION float sum_of_lanes(float* sums) {
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
  return sums[0];
}

/// On a host: `tokens` logits of `rows` rows, from column `column` on. The sums stay in registers:
/// whoever changes this looks at the loop that the compiler makes of it.
template <int rows, int tokens, LogitType Weight>
KOKKOS_FUNCTION void multiply_tile(const RowGroup& group, const WeightRows<Weight>& weights,
                                   std::int64_t column) {
  const float* hidden[rows];
  for (int r = 0; r < rows; ++r) hidden[r] = group.hidden[r];
  const Weight* KOKKOS_RESTRICT weight = weights.first;
  const std::int64_t stride = weights.stride;
  const std::int64_t whole = weights.size - weights.size % lanes;
  float sums[rows][tokens][lanes] = {};
  for (std::int64_t k = 0; k < whole; k += lanes) {
    for (int t = 0; t < tokens; ++t) {
      for (int r = 0; r < rows; ++r) {
#pragma omp simd
        for (int l = 0; l < lanes; ++l) {
          sums[r][t][l] =
              Kokkos::fma(hidden[r][k + l], widen(weight[t * stride + k + l]), sums[r][t][l]);
        }
      }
    }
  }
  for (int t = 0; t < tokens; ++t) {
    for (int r = 0; r < rows; ++r) {
      for (std::int64_t k = whole; k < weights.size; ++k) {
        float& sum = sums[r][t][k - whole];
        sum = Kokkos::fma(hidden[r][k], widen(weight[t * stride + k]), sum);
      }
      group.logits[r][column + t] = sum_of_lanes(sums[r][t]);
    }
  }
}

/// The same for `count` tokens.
template <int rows, LogitType Weight>
KOKKOS_FUNCTION void multiply_tiles(const RowGroup& group, WeightRows<Weight> weights,
                                    std::int64_t count) {
  constexpr int tokens = tokens_of_tile<rows>;
  std::int64_t column = 0;
  for (; column + tokens <= count; column += tokens) {
    multiply_tile<rows, tokens>(group, weights, column);
    weights.first += tokens * weights.stride;
  }
  for (; column < count; ++column) {
    multiply_tile<rows, 1>(group, weights, column);
    weights.first += weights.stride;
  }
}

/// Threads of a device's team, and tokens that they take: 16 threads, one for each sum, compute
/// four tokens of four rows.
inline constexpr int product_team = 256;
inline constexpr int tokens_of_lanes = 4;
inline constexpr int device_tile = product_team / lanes * tokens_of_lanes;

/// Team scratch of a device: the 16 sums of each product, and one float that keeps the threads that
/// add them from meeting in a bank.
inline constexpr int room_of_lanes = rows_of_group * tokens_of_lanes * (lanes + 1);
inline constexpr std::size_t product_scratch =
    product_team / lanes * room_of_lanes * sizeof(float) + 64;

/// One of the 16 sums of four tokens of a group's rows, to `sums`.
template <LogitType Weight>
KOKKOS_FUNCTION void add_lane(const RowGroup& group, const WeightRows<Weight>& weights, int tokens,
                              int lane, float* sums) {
  float own[rows_of_group][tokens_of_lanes] = {};
  for (std::int64_t k = lane; k < weights.size; k += lanes) {
    float w[tokens_of_lanes] = {};
    for (int t = 0; t < tokens_of_lanes; ++t) {
      if (t < tokens) w[t] = widen(weights.first[t * weights.stride + k]);
    }
    for (int r = 0; r < rows_of_group; ++r) {
      const float h = r < group.count ? group.hidden[r][k] : 0.0f;
      for (int t = 0; t < tokens_of_lanes; ++t) own[r][t] = Kokkos::fma(h, w[t], own[r][t]);
    }
  }
  for (int r = 0; r < rows_of_group; ++r) {
    for (int t = 0; t < tokens_of_lanes; ++t) {
      sums[(r * tokens_of_lanes + t) * (lanes + 1) + lane] = own[r][t];
    }
  }
}

/// The logits of a group's rows for `count` tokens, at most device_tile, as a device computes them:
/// 16 neighbouring threads read 16 neighbouring elements. `scratch` is the team's.
template <class Team, LogitType Weight>
KOKKOS_FUNCTION void multiply_by_lanes(const Team& team, const RowGroup& group,
                                       const WeightRows<Weight>& weights, std::int64_t count,
                                       float* scratch) {
  const int width = team.team_size() < lanes ? team.team_size() : lanes;
  const int parts = team.team_size() / width;
  const int part = team.team_rank() / width;
  float* sums = scratch + part * room_of_lanes;
  // Every part goes as often round as the first: there are barriers inside.
  for (std::int64_t begin = 0; begin < count; begin += parts * tokens_of_lanes) {
    const std::int64_t first = begin + part * tokens_of_lanes;
    const auto tokens =
        static_cast<int>(Kokkos::clamp<std::int64_t>(count - first, 0, tokens_of_lanes));
    const WeightRows<Weight> own{weights.first + first * weights.stride, weights.stride,
                                 weights.size};
    for (int lane = team.team_rank() % width; lane < lanes && tokens > 0; lane += width) {
      add_lane(group, own, tokens, lane, sums);
    }
    team.team_barrier();  // the sums are there
    for (int i = team.team_rank() % width; i < rows_of_group * tokens_of_lanes; i += width) {
      const int r = i / tokens_of_lanes;
      const int t = i % tokens_of_lanes;
      if (r < group.count && t < tokens) {
        group.logits[r][first + t] = sum_of_lanes(sums + i * (lanes + 1));
      }
    }
    team.team_barrier();  // the scratch is free again
  }
}

/// The logits of a group's rows for `count` tokens: what a team does.
template <class ExecutionSpace, class Team, LogitType Weight>
KOKKOS_FUNCTION void multiply_group(const Team& team, const RowGroup& group,
                                    const WeightRows<Weight>& weights, std::int64_t count,
                                    float* scratch) {
  if constexpr (runs_on_host<ExecutionSpace>) {
    if (team.team_rank() != 0) return;
    if (group.count == 4) multiply_tiles<4>(group, weights, count);
    if (group.count == 3) multiply_tiles<3>(group, weights, count);
    if (group.count == 2) multiply_tiles<2>(group, weights, count);
    if (group.count == 1) multiply_tiles<1>(group, weights, count);
  } else {
    multiply_by_lanes(team, group, weights, count, scratch);
  }
}

}  // namespace tokkos
