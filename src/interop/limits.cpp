// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>

#include "interop/engine_parts.hpp"
#include "interop/sized_struct.hpp"

namespace tokkos::interop {

Limits Limits::of(const tokkos_limits* limits) {
  const auto given = read_struct("limits", limits, tokkos_limits{});
  require(given.max_edits >= 0, "max_edits", std::nullopt, given.max_edits,
          "0 for no limit, or a number above it");
  Limits read{given.max_rows, given.vocabulary, std::nullopt, given.max_edits};
  if (given.active_vocabulary != 0) read.active_vocabulary = given.active_vocabulary;
  return read;
}

}  // namespace tokkos::interop

void tokkos_limits_init(tokkos_limits* limits, size_t size) {
  tokkos::interop::initialize_struct(limits, size, tokkos_limits{});
}
