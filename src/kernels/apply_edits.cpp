// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_edits.hpp>

#include "kernels/check_edits.hpp"
#include "kernels/edit_functors.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/launch.hpp"

#include <cstdint>
#include <limits>

namespace tokkos {

namespace {

/// Edit i: a bias or a penalty. On a device neighbours do the same.
template <class ExecutionSpace, LogitType Logit>
struct EditLogits {
  detail::AddBias<ExecutionSpace, Logit> add;
  detail::Penalize<ExecutionSpace, Logit> penalize;
  std::int64_t biases;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i < biases) {
      add(i);
    } else {
      penalize(i - biases);
    }
  }
};

/// On a host the two lists, which go row by row, run side by side in groups: group g takes its
/// share of both, so that a thread meets a row (and its pages of memory) once.
template <class ExecutionSpace, LogitType Logit>
struct EditGroups {
  static constexpr std::int64_t group_size = 128;  ///< edits
  static constexpr std::int64_t entries_per_block = 2;

  detail::AddBias<ExecutionSpace, Logit> add;
  detail::Penalize<ExecutionSpace, Logit> penalize;
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
    run_entries(add, first, last, biases);
    run_entries(penalize, begin - first, end - last, edits - biases);
  }
};

std::uint64_t share_of(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return 0;
  const auto scaled = static_cast<std::uint64_t>(part) << 32;
  const auto all = static_cast<std::uint64_t>(whole);
  return (scaled + all - 1) / all;
}

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void apply_edits(const ExecutionSpace& space, const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                 const LogitBiasEdits<MemoryOf<ExecutionSpace>>& biases,
                 const PenaltyEdits<MemoryOf<ExecutionSpace>>& penalties,
                 const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  check_edited_logits(logits, row_status);
  const std::int64_t first = check_bias_edits(biases);
  const std::int64_t second = check_penalty_edits(penalties);
  check_edits_apart(logits, row_status, biases, penalties);
  require(first + second <= std::numeric_limits<std::int32_t>::max(), "edits", std::nullopt,
          first + second, "at most 2147483647 in one launch");
  const std::int64_t edits = first + second;
  const char* label = "tokkos::apply_edits::edit";
  const detail::AddBias<ExecutionSpace, Logit> add{logits, biases, row_status};
  const detail::Penalize<ExecutionSpace, Logit> penalize{logits, penalties, row_status};
  if constexpr (runs_on_host<ExecutionSpace>) {
    using Groups = EditGroups<ExecutionSpace, Logit>;
    const std::int64_t groups = (edits + Groups::group_size - 1) / Groups::group_size;
    launch_entries(label, space, groups,
                   Groups{add, penalize, first, edits, share_of(first, edits)});
  } else {
    launch_entries(label, space, edits, EditLogits<ExecutionSpace, Logit>{add, penalize, first});
  }
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void apply_edits<Space, Logit>(                                                         \
      const Space&, const Matrix<Logit, MemoryOf<Space>>&, const LogitBiasEdits<MemoryOf<Space>>&, \
      const PenaltyEdits<MemoryOf<Space>>&, const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
