// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/request/generation_config.hpp>

#include <string>

namespace tokkos::interop {

/// Copies a config of C, whose memory is reused from step to step; null: the defaults.
/// @param name how errors call it
/// @throws Error if an array is null but not empty; values are not checked
void assign_config(const std::string& name, const tokkos_generation_config* given,
                   GenerationConfig& config);

}  // namespace tokkos::interop
