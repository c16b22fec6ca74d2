// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/engine_parts.hpp"
#include "interop/sized_struct.hpp"

namespace tokkos::interop {

Limits Limits::of(const tokkos_limits* limits) {
  const auto given = read_struct("limits", limits, tokkos_limits{});
  Limits read{given.max_rows, given.vocabulary, std::nullopt};
  if (given.active_vocabulary != 0) read.active_vocabulary = given.active_vocabulary;
  return read;
}

}  // namespace tokkos::interop

void tokkos_limits_init(tokkos_limits* limits, size_t size) {
  tokkos::interop::initialize_struct(limits, size, tokkos_limits{});
}
