// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/generation_config.hpp>

#include <cstdint>

namespace tokkos {

/// Narrower ranges that a server may hold its clients' parameters to; the defaults are those of
/// widespread web APIs. Tokkos does not need them and never asks for them: whoever wants them calls
/// `validate` where requests come in. A maximum is a number from 0 on; +infinity is no limit.
struct ParameterRanges {
  /// Temperatures lie in [0, max_temperature].
  float max_temperature = 2.0f;
  /// Presence and frequency penalties lie in [-max_penalty, max_penalty].
  float max_penalty = 2.0f;
  /// Biases lie in [-max_bias, max_bias]; so -infinity, which forbids a token, is refused.
  double max_bias = 100.0;
};

/// Checks the config of request number `request` against narrower ranges.
/// @throws Error that names field, request or entry, value and range; or the maximum that is none
void validate(const GenerationConfig& config, const ParameterRanges& ranges, std::int64_t request);

}  // namespace tokkos
