// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/request/generation_config.hpp>

#include "core/float_order.hpp"

#include <cfloat>
#include <limits>
#include <span>
#include <string>

namespace tokkos {

namespace {

/// "generation_configs[request].name".
std::string field_of(std::int64_t request, const std::string& name) {
  return "generation_configs[" + to_text(request) + "]." + name;
}

template <class T>
[[noreturn]] void refuse(std::int64_t request, const char* name, T value, const char* expected) {
  throw Error(field_of(request, name), std::nullopt, to_text(value), expected);
}

// Configs are checked in every call of every step: a name is made only where it is thrown.
template <class T>
void require_field(bool ok, std::int64_t request, const char* name, T value, const char* expected) {
  if (!ok) refuse(request, name, value, expected);
}

void validate_bias(const std::pair<TokenId, double>& entry, std::int64_t vocabulary,
                   const std::string& field, std::int64_t index) {
  const auto& [token, bias] = entry;
  if (token < 0 || token >= vocabulary) {
    throw Error(field + ".token_id", index, to_text(token),
                "a token in [0, " + to_text(vocabulary) + ")");
  }
  const bool masks = bias == -std::numeric_limits<double>::infinity();
  if (!masks && !is_finite_as_float(bias)) {
    throw Error(field, index, to_text(bias), "a finite float32 or -infinity");
  }
}

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
  require_field(config.min_tokens >= 0, request, "min_tokens", config.min_tokens, "a number >= 0");
  require_field(config.no_repeat_ngram_size >= 0, request, "no_repeat_ngram_size",
                config.no_repeat_ngram_size, "a number >= 0");
  for (std::size_t j = 0; j < config.bad_words.size(); ++j) {
    const auto name = [&] { return field_of(request, "bad_words[" + std::to_string(j) + "]"); };
    if (config.bad_words[j].empty()) {
      throw Error(name() + ".size", std::nullopt, "0", "one token or more");
    }
    validate_tokens(config.bad_words[j], vocabulary, name);
  }
}

/// Checks the three penalties and what they are of.
void validate_penalties(const GenerationConfig& config, std::int64_t request) {
  require_field(penalty_policy_name(config.penalty_policy) != nullptr, request, "penalty_policy",
                static_cast<std::int32_t>(config.penalty_policy),
                "a penalty policy: seed, openai, hugging_face or llama_cpp");
  require_field(config.penalty_window >= -1, request, "penalty_window", config.penalty_window,
                "a number of tokens >= 0, or -1 for all");
  require_field(is_within(config.presence_penalty, -FLT_MAX, FLT_MAX), request, "presence_penalty",
                config.presence_penalty, "a finite number");
  require_field(is_within(config.frequency_penalty, -FLT_MAX, FLT_MAX), request,
                "frequency_penalty", config.frequency_penalty, "a finite number");
  require_field(is_within(config.repetition_penalty, least_positive, FLT_MAX), request,
                "repetition_penalty", config.repetition_penalty, "a finite number > 0");
}

}  // namespace

bool GenerationConfig::has_penalty() const {
  const bool is_additive =
      float_order(presence_penalty) != 0 || float_order(frequency_penalty) != 0;
  return repetition_penalty != 1.0f ||
         (is_additive && penalty_policy != PenaltyPolicy::hugging_face);
}

bool GenerationConfig::has_truncation() const {
  return top_k > 0 || top_p < 1.0f || float_order(min_p) > 0;
}

void validate(const GenerationConfig& config, std::int64_t vocabulary, std::int64_t request) {
  require_field(is_within(config.temperature, 0.0f, FLT_MAX), request, "temperature",
                config.temperature, "a finite number >= 0");
  require_field(config.top_k >= 0, request, "top_k", config.top_k, "a number >= 0");
  require_field(is_within(config.top_p, least_positive, 1.0f), request, "top_p", config.top_p,
                "a number in (0, 1]");
  require_field(is_within(config.min_p, 0.0f, 1.0f), request, "min_p", config.min_p,
                "a number in [0, 1]");
  validate_penalties(config, request);
  validate_bans(config, vocabulary, request);
  if (config.logit_bias.empty()) return;
  const std::string field = field_of(request, "logit_bias");
  for (std::size_t i = 0; i < config.logit_bias.size(); ++i) {
    validate_bias(config.logit_bias[i], vocabulary, field, static_cast<std::int64_t>(i));
  }
}

}  // namespace tokkos
