// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/generation_config.hpp>

#include <cfloat>
#include <cmath>
#include <limits>
#include <string>

namespace tokkos {

namespace {

void validate_bias(const std::pair<TokenId, double>& entry, std::int64_t vocabulary,
                   const std::string& field, std::int64_t index) {
  const auto& [token, bias] = entry;
  if (token < 0 || token >= vocabulary) {
    throw Error(field + ".token_id", index, to_text(token),
                "a token in [0, " + to_text(vocabulary) + ")");
  }
  const auto narrowed = static_cast<float>(bias);
  const bool masks = bias == -std::numeric_limits<double>::infinity();
  if (!masks && !(std::fabs(narrowed) <= FLT_MAX)) {
    throw Error(field, index, to_text(bias), "a finite float32 or -infinity");
  }
}

}  // namespace

void validate(const GenerationConfig& config, std::int64_t vocabulary, std::int64_t request) {
  require(config.temperature >= 0.0f && config.temperature <= FLT_MAX, "temperature", request,
          config.temperature, "a finite number >= 0");
  require(std::isfinite(config.presence_penalty), "presence_penalty", request,
          config.presence_penalty, "a finite number");
  require(std::isfinite(config.frequency_penalty), "frequency_penalty", request,
          config.frequency_penalty, "a finite number");
  require(config.repetition_penalty > 0.0f && config.repetition_penalty <= FLT_MAX,
          "repetition_penalty", request, config.repetition_penalty, "a finite number > 0");
  if (config.logit_bias.empty()) return;
  const std::string field = "generation_configs[" + to_text(request) + "].logit_bias";
  for (std::size_t i = 0; i < config.logit_bias.size(); ++i) {
    validate_bias(config.logit_bias[i], vocabulary, field, static_cast<std::int64_t>(i));
  }
}

}  // namespace tokkos
