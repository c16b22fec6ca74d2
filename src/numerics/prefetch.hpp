// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

namespace tokkos {

/// Asks the memory for what stands at `address`, which need not be readable. Only compilers of host
/// code know such a request. (A function that does nothing else has to be inlined by force: GCC
/// takes a call of it for one without an effect.)
KOKKOS_FORCEINLINE_FUNCTION void prefetch([[maybe_unused]] const void* address) {
  KOKKOS_IF_ON_HOST((__builtin_prefetch(address);))
}

}  // namespace tokkos
