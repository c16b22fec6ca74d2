// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/interop/dlpack_device.hpp>

#include <cstdint>

namespace tokkos::interop {

/// A DLPack tensor as an array of C.
/// @param device that has to reach it
/// @param kind TOKKOS_DLPACK_*
/// @throws Error that names the member; UnsupportedError where DLPack was left out
tokkos_array import_tensor(const DlpackDevice& device, const void* tensor, std::int32_t kind,
                           const char* name);

}  // namespace tokkos::interop
