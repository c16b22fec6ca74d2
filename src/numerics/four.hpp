// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace tokkos {

/// Four neighbouring values, which a thread of a device reads or writes in one access: four floats
/// are 16 bytes, the most that one access moves, and no two threads of a warp then meet in a bank.
template <class Value>
struct alignas(4 * sizeof(Value)) Four {
  Value values[4];
};

/// Whether load_four and store_four may be used at `address`.
template <class Value>
KOKKOS_FORCEINLINE_FUNCTION bool may_hold_four(const Value* address) {
  return reinterpret_cast<std::uintptr_t>(address) % alignof(Four<Value>) == 0;
}

template <class Value>
KOKKOS_FORCEINLINE_FUNCTION Four<Value> load_four(const Value* address) {
  return *reinterpret_cast<const Four<Value>*>(address);
}

template <class Value>
KOKKOS_FORCEINLINE_FUNCTION void store_four(Value* address, const Four<Value>& four) {
  *reinterpret_cast<Four<Value>*>(address) = four;
}

}  // namespace tokkos
