// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>
#include <tokkos/numerics/exact_sum.hpp>

#include "kernels/draft_rows.hpp"
#include "kernels/shared_sums.hpp"
#include "kernels/tree_walk.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// The distributions that the children of a node were drawn from, those of siblings without
/// replacement included: `masses` then holds what earlier siblings left of each child's row, Z in
/// units of the grid; 0 for the whole row as it is, -1 where nothing was left (one-hot).
template <class ExecutionSpace>
struct SiblingDrafts {
  using Space = MemoryOf<ExecutionSpace>;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  DraftRows<Space> rows;
  TreeLinks<Space> links;
  bool without_replacement;
  Vector<std::int64_t, Space> masses;
  float* buffer;  ///< a chunk of the team's scratch, if without replacement

  KOKKOS_FUNCTION std::int64_t token(std::int32_t node) const { return rows.draft_tokens(node); }

  /// Length of the rows: a drafter may know tokens that the target does not have.
  KOKKOS_FUNCTION std::int64_t vocabulary() const {
    return static_cast<std::int64_t>(rows.draft_probs.extent(1));
  }

  KOKKOS_FUNCTION std::int64_t left_of_row(std::int32_t child) const {
    return without_replacement ? masses(child) : 0;
  }

  KOKKOS_FUNCTION bool is_one_hot(std::int32_t child) const {
    return rows.row_of(child) == one_hot_row || left_of_row(child) < 0;
  }

  /// Whether an earlier sibling of the same row has that token.
  KOKKOS_FUNCTION bool is_taken(std::int32_t parent, std::int32_t child, std::int64_t row,
                                std::int64_t wanted) const {
    for (std::int32_t c = links.first_child(parent); c != child; c = links.next_sibling(c)) {
      if (token(c) == wanted && rows.row_of(c) == row) return true;
    }
    return false;
  }

  /// Mass of a token in the distribution of `child`.
  KOKKOS_FUNCTION float mass(std::int32_t parent, std::int32_t child, std::int64_t wanted) const {
    if (is_one_hot(child)) return wanted == token(child) ? 1.0f : 0.0f;
    const std::int64_t row = rows.row_of(child);
    const float given = rows.draft_probs(row, wanted);
    const std::int64_t left = left_of_row(child);
    if (left == 0) return given;
    return is_taken(parent, child, row, wanted) ? 0.0f : given / from_grid(left);
  }

  /// A chunk of it; each member may read its own places.
  KOKKOS_FUNCTION DraftChunk chunk(const Team& team, std::int32_t parent, std::int32_t child,
                                   std::int64_t start, int length) const {
    if (is_one_hot(child)) return DraftChunk::one_hot(token(child), start, length);
    const std::int64_t row = rows.row_of(child);
    const float* const given = &rows.draft_probs(row, start);
    const std::int64_t left = left_of_row(child);
    if (left == 0) return {given};
    float* const q = buffer;
    const float divisor = from_grid(left);
    for_own_places<ExecutionSpace>(team, length, [=](int j) { q[j] = given[j] / divisor; });
    for (std::int32_t c = links.first_child(parent); c != child; c = links.next_sibling(c)) {
      const std::int64_t place = token(c) - start;
      if (place < 0 || place >= length || rows.row_of(c) != row) continue;
      const bool own = is_own_place<ExecutionSpace>(team, static_cast<int>(place));
      if (own) q[place] = 0.0f;  // GCOV_EXCL_BR_LINE: a host's team is one thread
    }
    return {q};
  }

  /// The sum of a chunk of the row that `child` was drawn from.
  KOKKOS_FUNCTION OwnSum sum_of_row(const Team& team, std::int32_t child, std::int64_t start,
                                    int length) const {
    return sum_given<ExecutionSpace>(team, length, &rows.draft_probs(rows.row_of(child), start),
                                     largest_given);
  }

  /// Notes what the earlier siblings that share its row leave for `child`. False if that row is no
  /// distribution, or `sums` paused.
  KOKKOS_FUNCTION bool take_from_row(const Team& team, std::int32_t parent, std::int32_t child,
                                     SharedSums& sums) const {
    if (!without_replacement) return true;
    const std::int64_t row = rows.row_of(child);
    std::int32_t last = -1;
    for (std::int32_t c = links.first_child(parent); c != child; c = links.next_sibling(c)) {
      const bool drawn = token(c) >= 0 && token(c) < vocabulary() && rows.row_of(c) == row;
      if (drawn) last = c;
    }
    std::int64_t left = 0;
    if (row >= 0 && last >= 0) {
      left = masses(last);
      team.team_broadcast(left, 0);
      if (left == 0 && !sum_row(team, child, sums, left)) return false;
      if (left > 0 && !is_taken(parent, last, row, token(last))) {
        left -= to_grid(rows.draft_probs(row, token(last)));
      }
      if (from_grid(left) < smallest_residual) left = -1;
    }
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&]() { masses(child) = left; });
    team.team_barrier();
    return true;
  }

 private:
  /// Exact sum of a child's row. False if it is not within 1% of 1 or a number is no probability.
  KOKKOS_FUNCTION bool sum_row(const Team& team, std::int32_t child, SharedSums& sums,
                               std::int64_t& sum) const {
    const auto chunk_sum = [&](std::int64_t start, int length) {
      return sum_of_row(team, child, start, length);
    };
    OwnSum total;
    if (!sums.next(team, SumKind::draft_row, child, vocabulary(), chunk_sum, nullptr, total)) {
      return false;
    }
    sum = total.sum;
    if (total.illegal != 0) return false;
    return sum >= grid_one - grid_one / 100 && sum <= grid_one + grid_one / 100;
  }
};

}  // namespace tokkos
