// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/step_edits.hpp>

#include "engine/requests_of_step.hpp"
#include "engine/reserve_more.hpp"

#include <algorithm>
#include <limits>

namespace tokkos {

namespace {

/// How many tokens policy llama_cpp looks back.
std::size_t window_length(const GenerationConfig& config) {
  return config.penalty_window < 0 ? std::numeric_limits<std::size_t>::max()
                                   : static_cast<std::size_t>(config.penalty_window);
}

}  // namespace

void StepEdits::add_penalties(const StepRequests& requests) {
  m_penalties_of.clear();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const GenerationConfig& config = requests.generation_configs[i];
    const TokenHistory& history = history_of(requests, i);
    begin_penalties(config, history);
    for_each_row(requests, i, [&](const RowEdits::Place& place) {
      PenaltyRow& row = m_penalties_of.emplace_back();
      row.history = &history;
      row.first = row.end = penalty_tokens.size();
      if (config.has_penalty()) add_row_penalties(config, context_of(requests, place), row);
      check_count();
    });
  }
}

void StepEdits::begin_penalties(const GenerationConfig& config, const TokenHistory& history) {
  m_window.clear();
  if (config.penalty_policy == PenaltyPolicy::llama_cpp && config.penalty_window >= 0 &&
      config.has_penalty()) {
    history.count_last(window_length(config), m_window);
  }
}

void StepEdits::add_row_penalties(const GenerationConfig& config, const TokenContext& context,
                                  PenaltyRow& row) {
  std::span<const TokenId> drafts = context.drafts;
  const bool has_window = config.penalty_policy == PenaltyPolicy::llama_cpp;
  if (has_window) drafts = drafts.last(std::min(drafts.size(), window_length(config)));
  if (has_window && config.penalty_window >= 0) {
    row.is_sorted = true;
    list_window(context, window_length(config), drafts.size());
  } else {
    list_history(config, row);
  }
  row.end = penalty_tokens.size();
  row.listed = row.end - row.first;
  reserve_penalties(drafts.size());
  for (const TokenId token : drafts) {
    const std::size_t place = find_penalty(row, token);
    if (place < row.end) {
      ++penalty_counts[place];
    } else {
      penalty_tokens.push_back(token);
      penalty_counts.push_back(1);
      ++row.end;
    }
  }
  if (row.end == row.first) return;
  penalty_ends.push_back(row.end);
  penalty_rows.push_back(static_cast<std::int32_t>(m_penalties_of.size() - 1));
  penalty_policies.push_back(static_cast<std::int32_t>(config.penalty_policy));
  penalties.insert(penalties.end(),
                   {config.presence_penalty, config.frequency_penalty, config.repetition_penalty});
}

void StepEdits::reserve_penalties(std::size_t count) {
  reserve_more(penalty_tokens, count);
  reserve_more(penalty_counts, count);
}

void StepEdits::list_history(const GenerationConfig& config, PenaltyRow& row) {
  const TokenHistory& history = *row.history;
  const bool counts_prompt = config.penalty_policy == PenaltyPolicy::llama_cpp;
  const auto generated = history.counts();
  reserve_penalties(generated.size());
  for (std::size_t i = 0; i < generated.size(); ++i) {
    penalty_tokens.push_back(generated[i].token);
    penalty_counts.push_back(generated[i].count + (counts_prompt ? history.prompt_counts()[i] : 0));
  }
  // By the other policies a token of the prompt alone gets the repetition penalty and nothing else.
  const bool repeats = penalizes_prompt(config.penalty_policy) && config.repetition_penalty != 1.0f;
  row.lists_prompt = counts_prompt || repeats;
  if (!row.lists_prompt) return;
  reserve_penalties(history.prompt_only().size());
  for (const TokenCount& entry : history.prompt_only()) {
    penalty_tokens.push_back(entry.token);
    penalty_counts.push_back(counts_prompt ? entry.count : 0);
  }
}

void StepEdits::list_window(const TokenContext& context, std::size_t length, std::size_t drafts) {
  const std::size_t history = context.prompt.size() + context.generated.size();
  const std::size_t end = history - std::min(length - drafts, history);
  m_row_window = m_window;
  // The drafts push the oldest tokens out of the window.
  for (std::size_t i = history - std::min(length, history); i < end; ++i) {
    --std::ranges::lower_bound(m_row_window, context[i], {}, &TokenCount::token)->count;
  }
  reserve_penalties(m_row_window.size());
  for (const TokenCount& entry : m_row_window) {
    if (entry.count == 0) continue;
    penalty_tokens.push_back(entry.token);
    penalty_counts.push_back(entry.count);
  }
}

std::size_t StepEdits::find_penalty(const PenaltyRow& row, TokenId token) const {
  const auto& [history, first, last, listed, lists_prompt, is_sorted] = row;
  if (first == last) return last;  // the row has none
  const auto begin = penalty_tokens.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = penalty_tokens.begin() + static_cast<std::ptrdiff_t>(last);
  const auto drafts = begin + static_cast<std::ptrdiff_t>(listed);
  if (is_sorted) {
    const auto place = std::lower_bound(begin, drafts, token);
    if (place != drafts && *place == token) {
      return static_cast<std::size_t>(place - penalty_tokens.begin());
    }
  } else {
    const std::int64_t generated = history->index_of(token);
    if (generated >= 0) return first + static_cast<std::size_t>(generated);
    const std::int64_t in_prompt = lists_prompt ? history->prompt_only_index_of(token) : -1;
    if (in_prompt >= 0) {
      return first + history->counts().size() + static_cast<std::size_t>(in_prompt);
    }
  }
  return static_cast<std::size_t>(std::find(drafts, end, token) - penalty_tokens.begin());
}

}  // namespace tokkos
