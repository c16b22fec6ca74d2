// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/generation_config.hpp>

#include "tools/io/checked_json.hpp"
#include "tools/replay/log_probability_request.hpp"

#include <cstdint>

namespace tokkos::tools {

/// Reads the fields of one request that say how its tokens are chosen.
/// @throws Error that names the field, its value and what was expected
GenerationConfig read_generation_config(const JsonObject& request, std::int64_t vocabulary);

/// Reads `logprobs` and `top_logprobs`.
/// @throws Error that names the field, its value and what was expected
LogProbabilityRequest read_log_probability_request(const JsonObject& request);

}  // namespace tokkos::tools
