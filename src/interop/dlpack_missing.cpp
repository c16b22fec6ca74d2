// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/dlpack_import.hpp"
#include "interop/last_error.hpp"

namespace tokkos::interop {

tokkos_array import_tensor(const DlpackDevice&, const void*, std::int32_t, const char*) {
  throw UnsupportedError("this library was built without DLPack (TOKKOS_BUILD_DLPACK)");
}

}  // namespace tokkos::interop
