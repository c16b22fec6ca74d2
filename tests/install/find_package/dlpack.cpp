// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The header of Tokkos::dlpack and what it includes are found.
#include <tokkos/interop/dlpack.hpp>

int main() {
  return DLPACK_MAJOR_VERSION >= 1 ? 0 : 1;
}
