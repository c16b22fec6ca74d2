// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/version.hpp>

#include "revision.hpp"

namespace tokkos {

const char* version() {
  return version_string;
}

const char* revision() {
  return TOKKOS_REVISION;
}

}  // namespace tokkos
