// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_edits.hpp>

#include "kernels/check_edits.hpp"
#include "kernels/edit_groups.hpp"
#include "kernels/instantiate.hpp"

#include <cstdint>

namespace tokkos {

template <class ExecutionSpace, LogitType Logit>
void apply_edits(const ExecutionSpace& space, const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                 const LogitBiasEdits<MemoryOf<ExecutionSpace>>& biases,
                 const PenaltyEdits<MemoryOf<ExecutionSpace>>& penalties,
                 const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  check_edited_logits(logits, row_status);
  check_edit_lists(biases, penalties);
  check_edits_apart(logits, row_status, biases, penalties);
  detail::launch_edits<ExecutionSpace, Logit>("tokkos::apply_edits::edit", space, logits, biases,
                                              penalties, row_status);
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void apply_edits<Space, Logit>(                                                         \
      const Space&, const Matrix<Logit, MemoryOf<Space>>&, const LogitBiasEdits<MemoryOf<Space>>&, \
      const PenaltyEdits<MemoryOf<Space>>&, const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
