// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/generation_config.hpp>
#include <tokkos/request/token_history.hpp>

#include "sameness/random_requests.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace tokkos::test {

/// The edits of a step as the kernels' flat arrays, from the requests themselves.
struct FlatEdits {
  std::vector<std::int32_t> bias_rows, bias_tokens;
  std::vector<float> biases;
  std::vector<std::int32_t> penalty_rows, positions, tokens, counts;
  std::vector<float> penalties;
  std::vector<std::int32_t> masked_rows, words;
  std::vector<float> temperatures;
  std::vector<std::int32_t> top_k;
  std::vector<float> top_p, min_p;

  FlatEdits(const Requests& requests, const std::vector<std::int64_t>& rows) {
    for (std::size_t place = 0; place < rows.size(); ++place) {
      const auto i = static_cast<std::size_t>(rows[place]);
      const auto row = static_cast<std::int32_t>(place);
      const GenerationConfig& config = requests.configs[i];
      temperatures.push_back(config.temperature);
      top_k.push_back(config.top_k);
      top_p.push_back(config.top_p);
      min_p.push_back(config.min_p);
      for (const auto& [token, bias] : config.logit_bias) {
        bias_rows.push_back(row);
        bias_tokens.push_back(token);
        biases.push_back(static_cast<float>(bias));
      }
      add_penalties(row, config, requests.histories[i]);
      const auto all = std::vector((requests.vocabulary + 31) / 32, std::int32_t{-1});
      const auto& mask = requests.mask_of[i] != nullptr ? requests.mask_of[i]->words() : all;
      words.insert(words.end(), mask.begin(), mask.end());
      if (requests.mask_of[i] != nullptr) masked_rows.push_back(row);
    }
  }

 private:
  void add_penalties(std::int32_t row, const GenerationConfig& config,
                     const TokenHistory& history) {
    std::map<TokenId, std::int32_t> times;
    for (const TokenId token : history.generated()) ++times[token];
    for (const auto& [token, count] : times) {
      positions.push_back(static_cast<std::int32_t>(penalty_rows.size()));
      tokens.push_back(token);
      counts.push_back(count);
    }
    penalty_rows.push_back(row);
    penalties.insert(penalties.end(), {config.presence_penalty, config.frequency_penalty,
                                       config.repetition_penalty});
  }
};

}  // namespace tokkos::test
