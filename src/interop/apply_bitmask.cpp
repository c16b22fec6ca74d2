// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_bitmask.hpp>

#include "engine/check_engine.hpp"
#include "interop/array_view.hpp"
#include "interop/context.hpp"
#include "interop/engine_parts.hpp"
#include "interop/last_error.hpp"
#include "interop/sized_struct.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos::interop {

template <class ExecutionSpace>
void apply_bitmask(const ExecutionSpace& space, const tokkos_array* logits,
                   const tokkos_row_masks& masks) {
  using Space = MemoryOf<ExecutionSpace>;
  check_kokkos();
  const auto seq_ids =
      vector_of_array<const std::int32_t, Space>("seq_ids", &given_array("seq_ids", masks.seq_ids));
  const auto mask_rows = masks.mask_rows == nullptr ? seq_ids
                                                    : vector_of_array<const std::int32_t, Space>(
                                                          "mask_rows", masks.mask_rows);
  const auto bitmask =
      matrix_of<const std::int32_t, Space>("bitmask", &given_array("bitmask", masks.bitmask));
  const auto row_status = vector_of_array<std::int32_t, Space>("row_status", masks.row_status);
  with_logits<Space, true>("logits", logits, [&](const auto& rows) {
    const auto columns = static_cast<std::int64_t>(rows.extent(1));
    require(columns >= 1 && columns <= max_vocabulary, "logits.shape", 1, columns,
            "a vocabulary in [1, 2147483647]");
    apply_bitmask_inplace(space, rows, seq_ids, mask_rows, bitmask,
                          {.active_vocabulary = masks.active_vocabulary}, row_status);
  });
}

#define TOKKOS_INSTANTIATE(Space) \
  template void apply_bitmask<Space>(const Space&, const tokkos_array*, const tokkos_row_masks&);
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos::interop

using namespace tokkos::interop;

void tokkos_row_masks_init(tokkos_row_masks* masks, size_t size) {
  initialize_struct(masks, size, tokkos_row_masks{});
}

tokkos_status tokkos_apply_bitmask(tokkos_context* context, const tokkos_array* logits,
                                   const tokkos_row_masks* masks) {
  return guarded([&] {
    const tokkos_context& alive = live("context", context);
    alive.backend->apply_bitmask(logits, read_struct("masks", masks, tokkos_row_masks{}));
  });
}
