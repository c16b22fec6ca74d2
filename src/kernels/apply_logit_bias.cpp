// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_logit_bias.hpp>

#include "kernels/check_edits.hpp"
#include "kernels/edit_functors.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/launch.hpp"

namespace tokkos::detail {

template <class ExecutionSpace, LogitType Logit>
void apply_logit_bias(const ExecutionSpace& space,
                      const Matrix<Logit, MemoryOf<ExecutionSpace>>& logits,
                      const LogitBiasEdits<MemoryOf<ExecutionSpace>>& edits,
                      const Vector<std::int32_t, MemoryOf<ExecutionSpace>>& row_status) {
  check_edited_logits(logits, row_status);
  const std::int64_t entries = check_bias_edits(edits);
  check_edits_apart(logits, row_status, edits);
  launch_entries("tokkos::apply_logit_bias::add", space, entries,
                 AddBias<ExecutionSpace, Logit>{logits, edits, row_status});
}

#define TOKKOS_INSTANTIATE(Space, Logit)                                                           \
  template void apply_logit_bias<Space, Logit>(                                                    \
      const Space&, const Matrix<Logit, MemoryOf<Space>>&, const LogitBiasEdits<MemoryOf<Space>>&, \
      const Vector<std::int32_t, MemoryOf<Space>>&);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos::detail
