// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/edit_functors.hpp"
#include "kernels/launch.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

// Biases and penalties in one launch: of whole rows of logits, or of a part of the vocabulary.

namespace tokkos::detail {

/// Logits that are a part of the vocabulary and say which edits they look at.
template <class Logits>
concept PartOfRows = requires(const Logits& logits) {
  logits.looked_at();
};

/// Edit i: a bias or a penalty. On a device neighbours do the same.
template <class ExecutionSpace, LogitType Logit, class Logits>
struct EditLogits {
  AddBias<ExecutionSpace, Logit, Logits> add;
  Penalize<ExecutionSpace, Logit, Logits> penalize;
  std::int64_t biases;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i < biases) {
      edit(add, i);
    } else {
      edit(penalize, i - biases);
    }
  }

  template <class Edits>
  KOKKOS_FORCEINLINE_FUNCTION static void edit(const Edits& edits, std::int64_t i) {
    if constexpr (PartOfRows<Logits>) {
      const std::int32_t token = edits.edits.token_ids(i);
      const Logits& logits = edits.logits;
      const bool is_here = logits.has_pieces() ? logits.piece_holds(edits.row(i), token)
                                               : logits.looked_at().has(token);
      if (!is_here) return;
    }
    edits(i);
  }
};

/// On a host the two lists, which go row by row, run side by side in groups: group g takes its
/// share of both, so that a thread meets a row (and its pages of memory) once.
template <class ExecutionSpace, LogitType Logit, class Logits>
struct EditGroups {
  static constexpr std::int64_t group_size = PartOfRows<Logits> ? 1024 : 128;  ///< edits
  static constexpr std::int64_t entries_per_block = PartOfRows<Logits> ? 1 : 2;

  AddBias<ExecutionSpace, Logit, Logits> add;
  Penalize<ExecutionSpace, Logit, Logits> penalize;
  std::int64_t biases;
  std::int64_t edits;        ///< biases and penalties
  std::uint64_t bias_share;  ///< of all edits, rounded up, times 2^32

  /// How many of the first i edits are biases.
  KOKKOS_FUNCTION std::int64_t biases_before(std::int64_t i) const {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(i) * bias_share) >> 32);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t group) const {
    const std::int64_t begin = group * group_size;
    const std::int64_t end = begin + group_size < edits ? begin + group_size : edits;
    const std::int64_t first = biases_before(begin);
    const std::int64_t last = biases_before(end);
    run(add, first, last, biases);
    run(penalize, begin - first, end - last, edits - biases);
  }

  template <class Edits>
  KOKKOS_FORCEINLINE_FUNCTION static void run(const Edits& list, std::int64_t begin,
                                              std::int64_t end, std::int64_t entries) {
    if constexpr (PartOfRows<Logits>) {
      run_some(list, begin, static_cast<int>(end - begin));
    } else {
      run_entries(list, begin, end, entries);
    }
  }

  /// Most edits are of other parts: those of this one are picked first, without a branch for each.
  template <class Edits>
  KOKKOS_FUNCTION static void run_some(const Edits& list, std::int64_t begin, int count) {
    constexpr int ahead = 24, width = 16;
    std::int32_t is_here[group_size + width] = {};
    std::int32_t places[group_size + width];
    mark(list, begin, count, is_here);
    int found = 0;
    for (int i = 0; i < count; i += width) {
      std::int32_t any = 0;
      for (int j = 0; j < width; ++j) any |= is_here[i + j];
      if (any == 0) continue;
      for (int j = i; j < i + width; ++j) {
        places[found] = j;
        found += is_here[j];
      }
    }
    for (int k = 0; k < found && k < ahead; ++k) list.fetch(begin + places[k]);
    for (int k = 0; k < found; ++k) {
      if (k + ahead < found) list.fetch(begin + places[k + ahead]);
      list(begin + places[k]);
    }
  }

  /// 1 for each edit that is looked at, 0 for others.
  template <class Edits>
  KOKKOS_FUNCTION static void mark(const Edits& list, std::int64_t begin, int count,
                                   std::int32_t* is_here) {
    const auto& tokens = list.edits.token_ids;
    if (list.logits.has_pieces()) {
      for (int i = 0; i < count; ++i) {
        is_here[i] = list.logits.piece_holds(list.row(begin + i), tokens(begin + i)) ? 1 : 0;
      }
      return;
    }
    const auto range = list.logits.looked_at();
    const std::int32_t* token = tokens.data() + begin * static_cast<std::int64_t>(tokens.stride(0));
    const auto stride = static_cast<std::int64_t>(tokens.stride(0));
    for (int i = 0; i < count; ++i) is_here[i] = range.has(token[i * stride]) ? 1 : 0;
  }
};

/// `part` of `whole`, rounded up, times 2^32.
inline std::uint64_t share_of(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return 0;
  const auto scaled = static_cast<std::uint64_t>(part) << 32;
  const auto all = static_cast<std::uint64_t>(whole);
  return (scaled + all - 1) / all;
}

/// Edits logits (a View, or what AddBias takes for one); asynchronous. Nothing is checked here.
template <class ExecutionSpace, LogitType Logit, class Logits>
void launch_edits(const char* label, const ExecutionSpace& space, const Logits& logits,
                  const LogitBiasEdits<MemoryOf<ExecutionSpace>>& biases,
                  const PenaltyEdits<MemoryOf<ExecutionSpace>>& penalties,
                  const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  const auto first = static_cast<std::int64_t>(biases.token_ids.extent(0));
  const std::int64_t edits = first + static_cast<std::int64_t>(penalties.token_ids.extent(0));
  const AddBias<ExecutionSpace, Logit, Logits> add{logits, biases, row_status};
  const Penalize<ExecutionSpace, Logit, Logits> penalize{logits, penalties, row_status};
  if constexpr (runs_on_host<ExecutionSpace>) {
    using Groups = EditGroups<ExecutionSpace, Logit, Logits>;
    const std::int64_t groups = (edits + Groups::group_size - 1) / Groups::group_size;
    launch_entries(label, space, groups,
                   Groups{add, penalize, first, edits, share_of(first, edits)});
  } else {
    launch_entries(label, space, edits,
                   EditLogits<ExecutionSpace, Logit, Logits>{add, penalize, first});
  }
}

}  // namespace tokkos::detail
