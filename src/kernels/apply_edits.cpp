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

template <class ExecutionSpace, LogitType Logit>
struct EditLogits {
  detail::AddBias<ExecutionSpace, Logit> add;
  detail::Penalize<ExecutionSpace, Logit> penalize;
  std::int64_t biases;
  std::int64_t edits;        ///< biases and penalties
  std::uint64_t bias_share;  ///< of all edits, rounded up, times 2^32

  /// How many of the first i edits are biases on a host.
  KOKKOS_FUNCTION std::int64_t biases_before(std::int64_t i) const {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(i) * bias_share) >> 32);
  }

  /// Runs `bias(k)` or `penalty(k)` for edit i. On a host the two lists, which go row by row, run
  /// side by side in groups, so that a thread meets a row (and its pages of memory) once.
  template <class Bias, class Penalty>
  KOKKOS_FORCEINLINE_FUNCTION void by_group(std::int64_t i, const Bias& bias,
                                            const Penalty& penalty) const {
    constexpr std::int64_t size = 64;
    const std::int64_t begin = i / size * size;
    const std::int64_t end = begin + size < edits ? begin + size : edits;
    const std::int64_t first = biases_before(begin);
    const std::int64_t count = biases_before(end) - first;
    if (i - begin < count) {
      bias(first + i - begin);
    } else {
      penalty(i - first - count);
    }
  }

  KOKKOS_FUNCTION void fetch(std::int64_t i) const {
    by_group(
        i, [&](std::int64_t k) { add.fetch(k); }, [&](std::int64_t k) { penalize.fetch(k); });
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (runs_on_host<ExecutionSpace>) {
      by_group(i, add, penalize);
    } else if (i < biases) {  // neighbours do the same
      add(i);
    } else {
      penalize(i - biases);
    }
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
  require(first + second <= std::numeric_limits<std::int32_t>::max(), "edits", std::nullopt,
          first + second, "at most 2147483647 in one launch");
  launch_entries("tokkos::apply_edits::edit", space, first + second,
                 EditLogits<ExecutionSpace, Logit>{{logits, biases, row_status},
                                                   {logits, penalties, row_status},
                                                   first,
                                                   first + second,
                                                   share_of(first, first + second)});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void apply_edits<Space, Logit>(                                                         \
      const Space&, const Matrix<Logit, MemoryOf<Space>>&, const LogitBiasEdits<MemoryOf<Space>>&, \
      const PenaltyEdits<MemoryOf<Space>>&, const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
