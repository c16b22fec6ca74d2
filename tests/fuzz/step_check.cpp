// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The documented ranges of everything that a step is given, one after the other; nothing is shared
// with the library's own checks.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "fuzz/step_input.hpp"
#include "fuzz/trees_input.hpp"

namespace tokkos::test {

namespace {

bool are_tokens(std::span<const TokenId> tokens, std::int64_t vocabulary) {
  return std::ranges::all_of(tokens, [=](TokenId v) { return 0 <= v && v < vocabulary; });
}

bool is_finite(double x) {
  return x >= -static_cast<double>(FLT_MAX) && x <= static_cast<double>(FLT_MAX);
}

bool is_good_config(const GenerationConfig& c, std::int64_t vocabulary) {
  for (const auto& [token, bias] : c.logit_bias) {
    if (token < 0 || token >= vocabulary) return false;
    // Halfway between the largest float32 and what would be the next one.
    if (bias != -HUGE_VAL && !(-0x1.ffffffp127 < bias && bias < 0x1.ffffffp127)) return false;
  }
  for (const auto& word : c.bad_words) {
    if (word.empty() || !are_tokens(word, vocabulary)) return false;
  }
  const auto policy = static_cast<int>(c.penalty_policy);
  return are_tokens(c.allowed_token_ids, vocabulary) &&
         are_tokens(c.banned_token_ids, vocabulary) && are_tokens(c.end_token_ids, vocabulary) &&
         c.temperature >= 0 && c.temperature <= FLT_MAX && c.top_k >= 0 && c.top_p > 0 &&
         c.top_p <= 1 && c.min_p >= 0 && c.min_p <= 1 && is_finite(c.presence_penalty) &&
         is_finite(c.frequency_penalty) && c.repetition_penalty > 0 &&
         c.repetition_penalty <= FLT_MAX && policy >= 0 && policy < 4 && c.penalty_window >= -1 &&
         c.min_tokens >= 0 && c.no_repeat_ngram_size >= 0;
}

/// Whether rows are given to the requests; their first rows and the end, if so.
bool owns_rows(const FuzzStep& fuzz, std::vector<std::int64_t>& cum) {
  const OwnedStep& step = fuzz.step->step;
  const std::size_t requests = step.configs.size();
  for (std::size_t i = 0; i <= requests; ++i) cum.push_back(static_cast<std::int64_t>(i));
  if (step.cum_num_token) cum.assign(step.cum_num_token->begin(), step.cum_num_token->end());
  return cum.size() == requests + 1 && cum.front() == 0 && cum.back() == fuzz.step->rows &&
         std::ranges::is_sorted(cum);
}

bool are_good_drafts(const FuzzStep& fuzz, const std::vector<std::int64_t>& cum) {
  const OwnedStep& step = fuzz.step->step;
  const std::size_t requests = step.configs.size();
  if (step.trees.has_value() != step.indices.has_value()) return false;
  if (!step.trees) return true;
  if (step.trees->size() != requests || step.indices->size() != requests) return false;
  for (std::size_t i = 0; i < requests; ++i) {
    const DraftTree& tree = (*step.trees)[i];
    if (!is_draft_tree(tree, static_cast<int>(fuzz.step->vocabulary))) return false;
    const auto& rows = (*step.indices)[i];
    if (static_cast<std::int64_t>(rows.size()) != cum[i + 1] - cum[i]) return false;
    for (const std::int32_t node : rows) {
      if (node < -1 || node >= static_cast<std::int64_t>(tree.token_ids.size())) return false;
    }
  }
  return true;
}

}  // namespace

bool is_good(const FuzzStep& fuzz) {
  const RandomStep& step = *fuzz.step;
  const OwnedStep& owned = step.step;
  const std::size_t requests = owned.configs.size();
  std::vector<std::int64_t> cum;
  if (step.rows > max_rows || !owns_rows(fuzz, cum)) return false;
  if (owned.states.size() != requests) return false;
  if (!owned.ids.empty() && owned.ids.size() != requests) return false;
  if (!are_good_drafts(fuzz, cum)) return false;
  for (std::size_t i = 0; i < requests; ++i) {
    if (!is_good_config(owned.configs[i], step.vocabulary)) return false;
    const TokenHistory* history = owned.states[i].history;
    if (history == nullptr) continue;
    if (!are_tokens(history->prompt(), step.vocabulary)) return false;
    if (!are_tokens(history->generated(), step.vocabulary)) return false;
  }
  if (!fuzz.uniforms.empty()) {
    return fuzz.uniforms.size() == static_cast<std::size_t>(step.rows) &&
           std::ranges::all_of(fuzz.uniforms, [](float u) { return u >= 0 && u < 1; });
  }
  // Philox needs to know the request and how far it is, where there is a row to draw for.
  if (!fuzz.draws) return true;
  const bool have_ids = owned.ids.size() == requests;
  for (std::size_t i = 0; i < requests; ++i) {
    const bool has_rows = cum[i] < cum[i + 1];
    if (has_rows && (!have_ids || owned.states[i].history == nullptr)) return false;
  }
  return true;
}

}  // namespace tokkos::test
