// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/generation_config.hpp>

#include <cfloat>
#include <cmath>
#include <limits>
#include <span>
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

/// "generation_configs[request].name".
std::string field_of(std::int64_t request, const std::string& name) {
  return "generation_configs[" + to_text(request) + "]." + name;
}

// Lists are checked in every call of every step: a name is made only where it is thrown.
template <class Name>
void validate_tokens(std::span<const TokenId> tokens, std::int64_t vocabulary, const Name& name) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < vocabulary) continue;
    throw Error(name(), static_cast<std::int64_t>(i), to_text(tokens[i]),
                "a token in [0, " + to_text(vocabulary) + ")");
  }
}

void validate_bans(const GenerationConfig& config, std::int64_t vocabulary, std::int64_t request) {
  const auto check = [&](const std::vector<TokenId>& tokens, const char* name) {
    validate_tokens(tokens, vocabulary, [&] { return field_of(request, name); });
  };
  check(config.allowed_token_ids, "allowed_token_ids");
  check(config.banned_token_ids, "banned_token_ids");
  check(config.end_token_ids, "end_token_ids");
  require(config.min_tokens >= 0, "min_tokens", request, config.min_tokens, "a number >= 0");
  require(config.no_repeat_ngram_size >= 0, "no_repeat_ngram_size", request,
          config.no_repeat_ngram_size, "a number >= 0");
  for (std::size_t j = 0; j < config.bad_words.size(); ++j) {
    const auto name = [&] { return field_of(request, "bad_words[" + std::to_string(j) + "]"); };
    if (config.bad_words[j].empty()) {
      throw Error(name() + ".size", std::nullopt, "0", "one token or more");
    }
    validate_tokens(config.bad_words[j], vocabulary, name);
  }
}

}  // namespace

void validate(const GenerationConfig& config, std::int64_t vocabulary, std::int64_t request) {
  require(config.temperature >= 0.0f && config.temperature <= FLT_MAX, "temperature", request,
          config.temperature, "a finite number >= 0");
  require(config.top_k >= 0, "top_k", request, config.top_k, "a number >= 0");
  require(config.top_p > 0.0f && config.top_p <= 1.0f, "top_p", request, config.top_p,
          "a number in (0, 1]");
  require(config.min_p >= 0.0f && config.min_p <= 1.0f, "min_p", request, config.min_p,
          "a number in [0, 1]");
  require(penalty_policy_name(config.penalty_policy) != nullptr, "penalty_policy", request,
          static_cast<std::int32_t>(config.penalty_policy),
          "a PenaltyPolicy: seed, openai, hugging_face or llama_cpp");
  require(config.penalty_window >= -1, "penalty_window", request, config.penalty_window,
          "a number of tokens >= 0, or -1 for all");
  require(std::isfinite(config.presence_penalty), "presence_penalty", request,
          config.presence_penalty, "a finite number");
  require(std::isfinite(config.frequency_penalty), "frequency_penalty", request,
          config.frequency_penalty, "a finite number");
  require(config.repetition_penalty > 0.0f && config.repetition_penalty <= FLT_MAX,
          "repetition_penalty", request, config.repetition_penalty, "a finite number > 0");
  validate_bans(config, vocabulary, request);
  if (config.logit_bias.empty()) return;
  const std::string field = field_of(request, "logit_bias");
  for (std::size_t i = 0; i < config.logit_bias.size(); ++i) {
    validate_bias(config.logit_bias[i], vocabulary, field, static_cast<std::int64_t>(i));
  }
}

}  // namespace tokkos
