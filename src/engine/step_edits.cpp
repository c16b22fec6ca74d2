// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/engine/step_edits.hpp>
#include <tokkos/numerics/ieee_arithmetic.hpp>
#include <tokkos/request/allowed_tokens.hpp>

#include "engine/requests_of_step.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace tokkos {

namespace {

/// Tokens that a matcher accepted on the way down a draft path; they are taken back at the end.
class AcceptedPath {
 public:
  explicit AcceptedPath(VocabularyMask& mask) : m_mask(mask) {}
  AcceptedPath(const AcceptedPath&) = delete;
  AcceptedPath& operator=(const AcceptedPath&) = delete;

  bool accept(TokenId token) {
    if (!m_mask.accept(token)) return false;
    ++m_count;
    return true;
  }

  void rollback() {
    const std::int32_t count = std::exchange(m_count, 0);
    if (count > 0) m_mask.rollback(count);
  }

  ~AcceptedPath() {
    try {
      rollback();
    } catch (...) {  // another exception is on its way and tells what went wrong
    }
  }

 private:
  VocabularyMask& m_mask;
  std::int32_t m_count = 0;
};

}  // namespace

void StepEdits::clear() {
  for (auto* array : {&bias_tokens, &penalty_rows, &penalty_tokens, &penalty_counts,
                      &penalty_policies, &mask_rows, &mask_positions, &mask_words}) {
    array->clear();
  }
  for (auto* array : {&bias_ends, &penalty_ends}) array->clear();
  for (auto* array : {&biases, &penalties}) array->clear();
  penalty_biases.clear();
  m_empty_words = unknown_mask;
}

void StepEdits::check_count() const {
  const std::size_t edits = penalty_tokens.size() + biases.size();
  if (edits <= max_edits) return;
  throw Error("edits", std::nullopt, std::to_string(edits),
              "at most max_edits = " + std::to_string(max_edits) +
                  " for all biases and penalties of a step");
}

void StepEdits::assign(const StepRequests& requests, std::int64_t active_vocabulary,
                       std::int64_t vocabulary, EventTraceRecorder* trace_recorder) {
  const IeeeArithmetic ieee;  // biases are narrowed and added up, those of an edit hook too
  clear();
  words_per_row = static_cast<std::size_t>((active_vocabulary + 31) / 32);
  {
    const TracedStage stage(trace_recorder, "apply penalty", requests.request_ids);
    add_penalties(requests);
  }
  {  // behind the penalties: where a token has one, its bias goes along
    const TracedStage stage(trace_recorder, "apply logit bias", requests.request_ids);
    add_biases(requests, vocabulary == 0 ? active_vocabulary : vocabulary);
  }
  const TracedStage stage(trace_recorder, "apply logit mask", requests.request_ids);
  add_masks(requests);
}

void StepEdits::add_masks(const StepRequests& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const GenerationConfig& config = requests.generation_configs[i];
    if (requests.sequence_states[i].mask == nullptr && config.allowed_token_ids.empty()) continue;
    begin_masks(config, requests.draft_trees ? (*requests.draft_trees)[i].size() : 0);
    for_each_row(requests, i, [&](const RowEdits::Place& place) { add_mask(requests, place); });
  }
}

void StepEdits::begin_masks(const GenerationConfig& config, std::size_t nodes) {
  m_words_of_node.assign(nodes + 1, unknown_mask);
  m_allowed_words = unknown_mask;
  m_allowed.clear();
  if (config.allowed_token_ids.empty()) return;
  m_allowed.resize(words_per_row);
  fill_allowed_bitmask(config.allowed_token_ids, m_allowed);
}

TokenContext StepEdits::context_of(const StepRequests& requests, const RowEdits::Place& place) {
  m_drafts.clear();
  for (std::int32_t node = place.draft_node; node != -1;) {
    const DraftTree& tree = (*requests.draft_trees)[place.request];
    m_drafts.push_back(tree.token_ids[static_cast<std::size_t>(node)]);
    node = tree.parents[static_cast<std::size_t>(node)];
  }
  std::ranges::reverse(m_drafts);
  const TokenHistory& history = history_of(requests, place.request);
  return {history.prompt(), history.generated(), m_drafts};
}

void StepEdits::add_mask(const StepRequests& requests, const RowEdits::Place& place) {
  std::int32_t& position = m_words_of_node[static_cast<std::size_t>(place.draft_node + 1)];
  if (position == unknown_mask) {
    position = find_words(requests.sequence_states[place.request].mask,
                          context_of(requests, place).drafts);
  }
  if (position == no_mask) return;
  mask_rows.push_back(static_cast<std::int32_t>(place.row));
  mask_positions.push_back(position);
}

std::int32_t StepEdits::find_words(VocabularyMask* mask, std::span<const TokenId> drafts) {
  if (mask == nullptr) return allowed_words();
  AcceptedPath accepted(*mask);
  bool refused = false;
  for (const TokenId token : drafts) refused = refused || !accepted.accept(token);
  const bool constrained = !refused && mask->is_constrained();
  std::int32_t position = no_mask;
  if (constrained) {
    const std::span<std::int32_t> words = add_words();
    mask->fill_next_bitmask(words);
    if (!m_allowed.empty()) intersect_bitmask(words, m_allowed);
    position = last_words();
  } else {
    position = refused ? empty_words() : allowed_words();
  }
  accepted.rollback();
  return position;
}

std::int32_t StepEdits::allowed_words() {
  if (m_allowed.empty()) return no_mask;
  if (m_allowed_words == unknown_mask) {
    std::ranges::copy(m_allowed, add_words().begin());
    m_allowed_words = last_words();
  }
  return m_allowed_words;
}

std::int32_t StepEdits::empty_words() {
  if (m_empty_words == unknown_mask) {
    add_words();
    m_empty_words = last_words();
  }
  return m_empty_words;
}

std::span<std::int32_t> StepEdits::add_words() {
  mask_words.resize(mask_words.size() + words_per_row, 0);
  return std::span(mask_words).last(words_per_row);
}

std::int32_t StepEdits::last_words() const {
  return static_cast<std::int32_t>(mask_words.size() / words_per_row) - 1;
}

}  // namespace tokkos
