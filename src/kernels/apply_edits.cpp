// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_edits.hpp>

#include "kernels/check_edits.hpp"
#include "kernels/edit_functors.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/launch.hpp"

namespace tokkos {

namespace {

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

}  // namespace

template <class ExecutionSpace, LogitType Logit>
void apply_edits(const ExecutionSpace& space, const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                 const LogitBiasEdits<MemoryOf<ExecutionSpace>>& biases,
                 const PenaltyEdits<MemoryOf<ExecutionSpace>>& penalties,
                 const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  check_edited_logits(logits, row_status);
  const std::int64_t first = check_bias_edits(biases);
  const std::int64_t second = check_penalty_edits(penalties);
  launch_entries("tokkos::apply_edits::edit", space, first + second,
                 EditLogits<ExecutionSpace, Logit>{
                     {logits, biases, row_status}, {logits, penalties, row_status}, first});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void apply_edits<Space, Logit>(                                                         \
      const Space&, const Matrix<Logit, MemoryOf<Space>>&, const LogitBiasEdits<MemoryOf<Space>>&, \
      const PenaltyEdits<MemoryOf<Space>>&, const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
