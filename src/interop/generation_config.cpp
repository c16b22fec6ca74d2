// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/generation_config.hpp"

#include <tokkos/core/error.hpp>

#include "interop/sized_struct.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tokkos::interop {

namespace {

tokkos_generation_config default_config() {
  const GenerationConfig defaults;
  tokkos_generation_config config{};
  config.temperature = defaults.temperature;
  config.top_k = defaults.top_k;
  config.top_p = defaults.top_p;
  config.min_p = defaults.min_p;
  config.presence_penalty = defaults.presence_penalty;
  config.frequency_penalty = defaults.frequency_penalty;
  config.repetition_penalty = defaults.repetition_penalty;
  config.penalty_policy = static_cast<std::int32_t>(defaults.penalty_policy);
  config.penalty_window = defaults.penalty_window;
  config.min_tokens = defaults.min_tokens;
  config.no_repeat_ngram_size = defaults.no_repeat_ngram_size;
  config.seed = defaults.seed;
  config.has_stream = defaults.stream.has_value() ? 1 : 0;
  return config;
}

void assign_tokens(const std::string& name, const std::int32_t* tokens, std::size_t count,
                   std::vector<TokenId>& to) {
  checked_array(name, tokens, count);
  to.assign(tokens, tokens + count);
}

void assign_biases(const std::string& name, const tokkos_generation_config& given,
                   GenerationConfig& config) {
  checked_array(name, given.logit_bias, given.logit_bias_count);
  config.logit_bias.clear();
  for (std::size_t i = 0; i < given.logit_bias_count; ++i) {
    config.logit_bias.emplace_back(given.logit_bias[i].token, given.logit_bias[i].bias);
  }
}

void assign_bad_words(const std::string& name, const tokkos_generation_config& given,
                      GenerationConfig& config) {
  checked_array(name, given.bad_words, given.bad_word_count);
  config.bad_words.resize(given.bad_word_count);
  for (std::size_t i = 0; i < given.bad_word_count; ++i) {
    assign_tokens(name + "[" + std::to_string(i) + "].tokens", given.bad_words[i].tokens,
                  given.bad_words[i].count, config.bad_words[i]);
  }
}

}  // namespace

void assign_config(const std::string& name, const tokkos_generation_config* config_of_c,
                   GenerationConfig& config) {
  const tokkos_generation_config given =
      config_of_c == nullptr ? default_config() : read_struct(name, config_of_c, default_config());
  config.temperature = given.temperature;
  config.top_k = given.top_k;
  config.top_p = given.top_p;
  config.min_p = given.min_p;
  config.presence_penalty = given.presence_penalty;
  config.frequency_penalty = given.frequency_penalty;
  config.repetition_penalty = given.repetition_penalty;
  config.penalty_policy = static_cast<PenaltyPolicy>(given.penalty_policy);
  config.penalty_window = given.penalty_window;
  config.min_tokens = given.min_tokens;
  config.no_repeat_ngram_size = given.no_repeat_ngram_size;
  config.seed = given.seed;
  if (given.has_stream != 0 && given.has_stream != 1) {
    throw Error(name + ".has_stream", std::nullopt, std::to_string(given.has_stream), "0 or 1");
  }
  config.stream.reset();
  if (given.has_stream == 1) config.stream = given.stream;
  assign_biases(name + ".logit_bias", given, config);
  assign_tokens(name + ".allowed_token_ids", given.allowed_token_ids, given.allowed_token_count,
                config.allowed_token_ids);
  assign_tokens(name + ".banned_token_ids", given.banned_token_ids, given.banned_token_count,
                config.banned_token_ids);
  assign_tokens(name + ".end_token_ids", given.end_token_ids, given.end_token_count,
                config.end_token_ids);
  assign_bad_words(name + ".bad_words", given, config);
}

}  // namespace tokkos::interop

void tokkos_generation_config_init(tokkos_generation_config* config, size_t size) {
  tokkos::interop::initialize_struct(config, size, tokkos::interop::default_config());
}
