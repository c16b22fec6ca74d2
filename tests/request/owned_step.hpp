// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/step_requests.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tokkos::test {

/// The requests of a step with all that they refer to.
struct OwnedStep {
  std::vector<GenerationConfig> configs;
  std::deque<TokenHistory> histories;
  std::vector<SequenceState> states;
  std::vector<std::string> ids;
  std::optional<std::vector<std::int32_t>> cum_num_token;
  std::optional<std::vector<DraftTree>> trees;
  std::optional<std::vector<std::vector<std::int32_t>>> indices;

  void add(const GenerationConfig& config, const TokenHistory& history = {},
           VocabularyMask* mask = nullptr) {
    configs.push_back(config);
    histories.push_back(history);
    states.push_back({&histories.back(), mask});
    ids.push_back("request " + std::to_string(ids.size()));
  }

  StepRequests requests() const {
    StepRequests requests;
    requests.generation_configs = configs;
    requests.sequence_states = states;
    requests.request_ids = ids;
    if (cum_num_token) requests.cum_num_token = *cum_num_token;
    if (trees) requests.draft_trees = *trees;
    if (indices) requests.draft_token_indices = *indices;
    return requests;
  }
};

}  // namespace tokkos::test
