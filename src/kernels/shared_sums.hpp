// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/kernels/verify_draft_trees.hpp>

#include "kernels/probability_row.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace tokkos {

/// The sums over the vocabulary that a tree's walk comes upon, in that order. The first `made` were
/// made by the whole device, a chunk a team, in launches before this one. The next one pauses the
/// walk, so that it be made alike, or is made here.
struct SharedSums {
  const std::int64_t* masses;  ///< of the sums made, chunk by chunk; -1 where something is illegal
  std::int64_t room;           ///< masses for each sum: the chunks of the longest row
  int made;
  bool may_pause;
  int used;     ///< so far
  int entered;  ///< used when the walk came to its node
  SumKind wanted = SumKind::none;
  std::int32_t wanted_node = -1;

  KOKKOS_FUNCTION bool is_paused() const { return wanted != SumKind::none; }

  /// The next sum, of chunk_sum(start, length) over all chunks, for every member; its chunks' are
  /// left in `own_masses` (null: nowhere) or where `chunk_masses` says. False if the walk pauses.
  template <class Team, class ChunkSum>
  KOKKOS_FUNCTION bool next(const Team& team, SumKind kind, std::int32_t node,
                            std::int64_t vocabulary, const ChunkSum& chunk_sum,
                            std::int64_t* own_masses, OwnSum& total,
                            const std::int64_t** chunk_masses = nullptr) {
    const int number = used++;
    if (number >= made) {
      if (may_pause) {
        wanted = kind;
        wanted_node = node;
        return false;
      }
      total = sum_chunks(team, vocabulary, chunk_sum, own_masses);
      if (chunk_masses != nullptr) *chunk_masses = own_masses;
      return true;
    }
    const std::int64_t chunks = chunk_count(vocabulary);
    const std::int64_t* const found = masses + number * room;
    OwnSum mine;
    for (std::int64_t c = team.team_rank(); c < chunks; c += team.team_size()) {
      mine.sum = wrapping_sum(mine.sum, found[c]);
      mine.illegal |= found[c] < 0 ? 1 : 0;
    }
    total = sum_of_members(team, mine);
    if (chunk_masses != nullptr) *chunk_masses = found;
    return true;
  }
};

}  // namespace tokkos
