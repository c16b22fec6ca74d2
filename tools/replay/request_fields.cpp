// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/request_fields.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::tools {

namespace {

using nlohmann::json;

/// The token that a key of logit_bias names, or -1: decimal, without sign or leading zeros, so that
/// no token can stand there under two names.
std::int64_t parse_token(const std::string& key) {
  std::int64_t token = -1;
  const char* end = key.data() + key.size();
  const auto [stop, problem] = std::from_chars(key.data(), end, token);
  const bool canonical =
      !key.empty() && key[0] >= '0' && key[0] <= '9' && (key[0] != '0' || key.size() == 1);
  return problem == std::errc{} && stop == end && canonical ? token : -1;
}

std::vector<std::pair<TokenId, double>> read_logit_bias(const JsonObject& request,
                                                        std::int64_t vocabulary) {
  const json* member = request.find("logit_bias");
  if (!member) return {};
  const JsonObject bias(*member, request.name() + ".logit_bias");
  std::vector<std::pair<TokenId, double>> entries;
  for (const auto& [key, value] : member->items()) {
    const std::int64_t token = parse_token(key);
    if (token < 0 || token >= vocabulary) {
      throw Error(bias.name() + ": key", std::nullopt, shown(json(key)),
                  "a token id in [0, " + to_text(vocabulary - 1) + "]");
    }
    // JSON has no infinity; as a string it forbids the token.
    const double number =
        value == "-Infinity"
            ? -std::numeric_limits<double>::infinity()
            : bias.number(key, 0.0, "a number in [-3.4028235e+38, 3.4028235e+38] or \"-Infinity\"");
    entries.emplace_back(static_cast<TokenId>(token), number);
  }
  return entries;
}

}  // namespace

GenerationConfig read_generation_config(const JsonObject& request, std::int64_t vocabulary) {
  const auto read = [&request](const char* key, float fallback, const char* expected, auto accept) {
    const double number = request.number(key, fallback, expected);
    const float narrowed = static_cast<float>(number);
    request.require(accept(number) && accept(static_cast<double>(narrowed)), key, expected);
    return narrowed;
  };
  const auto any = [](double) { return true; };
  constexpr const char* penalty = "a number in [-3.4028235e+38, 3.4028235e+38] (float32)";
  GenerationConfig config;
  config.temperature = read("temperature", 1.0f, "a number in [0, 3.4028235e+38]",
                            [](double number) { return number >= 0.0; });
  config.top_p = read("top_p", 1.0f, "a number in (0, 1]",
                      [](double number) { return number > 0.0 && number <= 1.0; });
  config.top_k = static_cast<std::int32_t>(
      request.integer("top_k", 0, 0, std::numeric_limits<std::int32_t>::max()));
  config.min_p = read("min_p", 0.0f, "a number in [0, 1]",
                      [](double number) { return number >= 0.0 && number <= 1.0; });
  config.presence_penalty = read("presence_penalty", 0.0f, penalty, any);
  config.frequency_penalty = read("frequency_penalty", 0.0f, penalty, any);
  config.repetition_penalty =
      read("repetition_penalty", 1.0f, "a number in [1e-45, 3.4028235e+38] (float32)",
           [](double number) { return number > 0.0; });
  config.logit_bias = read_logit_bias(request, vocabulary);
  config.seed = request.unsigned_integer("seed", 0);
  return config;
}

LogProbabilityRequest read_log_probability_request(const JsonObject& request) {
  LogProbabilityRequest wanted;
  if (const json* kind = request.find("logprobs"); kind && *kind != false) {
    request.require(*kind == "raw" || *kind == "processed", "logprobs",
                    "false, \"raw\" or \"processed\"");
    wanted.kind = *kind == "raw" ? LogProbabilityKind::raw : LogProbabilityKind::processed;
  }
  wanted.top = static_cast<std::int32_t>(request.integer("top_logprobs", 0, 0, max_top_tokens));
  request.require(wanted.top == 0 || wanted.kind != LogProbabilityKind::none, "top_logprobs",
                  "0, because logprobs is false");
  return wanted;
}

}  // namespace tokkos::tools
