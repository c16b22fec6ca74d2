// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/step_edits.hpp>
#include <tokkos/request/bad_words.hpp>
#include <tokkos/request/minimum_length.hpp>
#include <tokkos/request/no_repeat_ngram.hpp>

#include "engine/requests_of_step.hpp"
#include "engine/reserve_more.hpp"
#include "kernels/edit_logit.hpp"

#include <algorithm>
#include <cfloat>
#include <limits>

namespace tokkos {

namespace {

constexpr float forbidding = -std::numeric_limits<float>::infinity();

/// Adds up each token's biases in list order, as one float32 that is finite unless it masks; by
/// token. An overflow stops just inside the range; a sum of exactly -FLT_MAX has not overflowed.
void merge_biases(std::vector<std::pair<TokenId, float>>& biases) {
  std::stable_sort(biases.begin(), biases.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < biases.size(); ++i) {
    if (kept == 0 || biases[kept - 1].first != biases[i].first) {
      biases[kept++] = biases[i];
      continue;
    }
    float& sum = biases[kept - 1].second;
    const bool masks = sum < -FLT_MAX || biases[i].second < -FLT_MAX;
    sum = masks ? forbidding : saturated(sum + biases[i].second);
  }
  biases.resize(kept);
}

}  // namespace

void StepEdits::add_biases(const StepRequests& requests, std::int64_t vocabulary) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    begin_biases(requests.generation_configs[i]);
    for_each_row(requests, i, [&](const RowEdits::Place& place) {
      add_row_biases(requests, place, vocabulary);
    });
  }
  std::ranges::sort(penalty_biases, {}, &PenaltyBias::place);
}

void StepEdits::begin_biases(const GenerationConfig& config) {
  m_request_biases.clear();
  for (const auto& [token, bias] : config.logit_bias) {
    m_request_biases.emplace_back(token, static_cast<float>(bias));
  }
  for (const TokenId token : config.banned_token_ids) {
    m_request_biases.emplace_back(token, forbidding);
  }
  merge_biases(m_request_biases);
}

void StepEdits::add_row_biases(const StepRequests& requests, const RowEdits::Place& place,
                               std::int64_t vocabulary) {
  const GenerationConfig& config = requests.generation_configs[place.request];
  if (!config.bans_by_context() && requests.edit_hook == nullptr) {
    add_row_biases(m_request_biases, place);
    return;
  }
  const TokenContext context = context_of(requests, place);
  m_banned.clear();
  ban_early_end(context, config.min_tokens, config.end_token_ids, m_banned);
  ban_repeated_ngrams(context, config.no_repeat_ngram_size, m_banned);
  ban_bad_words(context, config.bad_words, m_banned);
  m_row_biases = m_request_biases;
  for (const TokenId token : m_banned) m_row_biases.emplace_back(token, forbidding);
  if (requests.edit_hook != nullptr) {
    RowEdits edits(place, context, vocabulary, m_row_biases);
    (*requests.edit_hook)(edits);
  }
  merge_biases(m_row_biases);
  add_row_biases(m_row_biases, place);
}

void StepEdits::add_row_biases(const Biases& merged, const RowEdits::Place& place) {
  const PenaltyRow& penalties_of_row = m_penalties_of[static_cast<std::size_t>(place.row)];
  const bool is_penalized = penalties_of_row.first < penalties_of_row.end;
  if (is_penalized) reserve_more(penalty_biases, merged.size());
  reserve_more(bias_tokens, merged.size());
  reserve_more(biases, merged.size());
  for (const auto& [token, bias] : merged) {
    const std::size_t penalty = find_penalty(penalties_of_row, token);
    if (penalty < penalties_of_row.end) {
      penalty_biases.push_back({penalty, bias});
    } else {
      bias_tokens.push_back(token);
      biases.push_back(bias);
    }
  }
  bias_ends.push_back(biases.size());
  check_count();
}

}  // namespace tokkos
