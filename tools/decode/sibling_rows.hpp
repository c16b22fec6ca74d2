// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/views.hpp>
#include <tokkos/core/types.hpp>
#include <tokkos/numerics/exact_sum.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos::tools {

/// Where the children of one level stand among the rows of a step. Request r has the rows
/// [r * rows_per_request, (r + 1) * rows_per_request), the parents of the level are `parents` per
/// request, and the child drawn for parent p is row first_child + p of its request.
struct SiblingPlace {
  std::int32_t parents = 1;
  std::int32_t rows_per_request = 1;
  std::int32_t first_child = 0;
};

/// See store_and_exclude.
template <class ExecutionSpace>
struct StoreAndExclude {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using memory_space = MemoryOf<ExecutionSpace>;

  // What is left of a distribution below this is mostly rounding.
  static constexpr std::int64_t least_rest = grid_one >> 16;

  Matrix<float, memory_space> remaining;
  Vector<const TokenId, memory_space> drawn;
  SiblingPlace place;
  Matrix<float, memory_space> draft_probs;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t row = team.league_rank();
    const std::int64_t request = row / place.parents;
    const std::int64_t child =
        request * place.rows_per_request + place.first_child + row % place.parents;
    const auto vocabulary = static_cast<std::int64_t>(remaining.extent(1));
    const std::int64_t token = drawn(row);
    float* const left = &remaining(row, 0);
    float* const stored = &draft_probs(child, 0);
    std::int64_t rest = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, vocabulary),
        [=](const std::int64_t v, std::int64_t& sum) {
          stored[v] = token >= 0 ? left[v] : (v == 0 ? 1.0f : 0.0f);
          if (v != token) sum += to_grid(left[v]);
        },
        rest);
    const double scale = rest < least_rest ? 0.0 : 1.0 / (static_cast<double>(rest) * grid_unit);
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, vocabulary), [=](const std::int64_t v) {
      left[v] = v == token ? 0.0f : static_cast<float>(static_cast<double>(left[v]) * scale);
    });
  }
};

/// After one child was drawn from each parent's distribution: copies that distribution to the
/// child's row of draft_probs, and takes the child out of it, so that the next sibling is drawn
/// without replacement from what is left, divided by its exact sum.
///
/// A parent with nothing left (less than 2^-16, or no token in the first place) keeps a row of
/// zeros, from which -1 is drawn; that child gets the one-hot distribution of token 0, which is
/// lossless too and lets every tree keep its shape.
/// @param remaining [requests * parents, V] distributions, changed
/// @param drawn [requests * parents] tokens, -1 for none
/// @param draft_probs [requests * rows_per_request, V], the children's rows are written
template <class ExecutionSpace>
void store_and_exclude(const ExecutionSpace& space,
                       const Matrix<float, MemoryOf<ExecutionSpace>>& remaining,
                       const Vector<const TokenId, MemoryOf<ExecutionSpace>>& drawn,
                       const SiblingPlace& place,
                       const Matrix<float, MemoryOf<ExecutionSpace>>& draft_probs) {
  const auto rows = static_cast<int>(remaining.extent(0));
  if (rows == 0) return;
  Kokkos::parallel_for("tokkos::decode::store_and_exclude",
                       Kokkos::TeamPolicy<ExecutionSpace>(space, rows, Kokkos::AUTO),
                       StoreAndExclude<ExecutionSpace>{remaining, drawn, place, draft_probs});
}

}  // namespace tokkos::tools
