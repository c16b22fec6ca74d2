// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/staging.hpp>

#include "engine/staged_upload.hpp"
#include "kernels/instantiate.hpp"

namespace tokkos {

#define TOKKOS_INSTANTIATE(Space) template class Staging<Space>;
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE)

}  // namespace tokkos
