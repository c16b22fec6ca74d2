// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/generation_config.hpp>

#include "tools/io/checked_json.hpp"

#include <cstdint>

namespace tokkos::tools {

/// Reads the fields of one request that say how its tokens are chosen, and checks those that this
/// version accepts with their default alone (truncation and log-probabilities).
/// @throws Error that names the field, its value and what was expected
GenerationConfig read_generation_config(const JsonObject& request, std::int64_t vocabulary);

}  // namespace tokkos::tools
