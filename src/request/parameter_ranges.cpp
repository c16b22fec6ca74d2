// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/parameter_ranges.hpp>

#include "core/float_order.hpp"

#include <cmath>
#include <optional>
#include <string>

namespace tokkos {

namespace {

template <class T>
[[noreturn]] void refuse(std::int64_t request, const char* name, std::optional<std::int64_t> index,
                         T value, T lowest, T highest) {
  throw Error("generation_configs[" + to_text(request) + "]." + name, index, to_text(value),
              "a number in [" + to_text(lowest) + ", " + to_text(highest) + "]");
}

template <class T>
void check_maximum(const char* name, T maximum) {
  if (maximum >= T{0}) return;
  throw Error(std::string("ranges.") + name, std::nullopt, to_text(maximum), "a number from 0 on");
}

}  // namespace

void validate(const GenerationConfig& config, const ParameterRanges& ranges, std::int64_t request) {
  check_maximum("max_temperature", ranges.max_temperature);
  check_maximum("max_penalty", ranges.max_penalty);
  check_maximum("max_bias", ranges.max_bias);
  const auto check = [&](const char* name, float value, float lowest, float highest) {
    if (is_within(value, lowest, highest)) return;
    refuse(request, name, std::nullopt, value, lowest, highest);
  };
  check("temperature", config.temperature, 0.0f, ranges.max_temperature);
  check("presence_penalty", config.presence_penalty, -ranges.max_penalty, ranges.max_penalty);
  check("frequency_penalty", config.frequency_penalty, -ranges.max_penalty, ranges.max_penalty);
  for (std::size_t i = 0; i < config.logit_bias.size(); ++i) {
    const double bias = config.logit_bias[i].second;
    if (std::fabs(bias) <= ranges.max_bias) continue;
    refuse(request, "logit_bias", static_cast<std::int64_t>(i), bias, -ranges.max_bias,
           ranges.max_bias);
  }
}

}  // namespace tokkos
