// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/step_edits.hpp>
#include <tokkos/request/allowed_tokens.hpp>

#include <algorithm>
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

const TokenHistory& history_of(const StepRequests& requests, std::size_t request) {
  static const TokenHistory none;
  const TokenHistory* history = requests.sequence_states[request].history;
  return history != nullptr ? *history : none;
}

}  // namespace

void StepEdits::clear() {
  for (auto* array :
       {&bias_rows, &bias_tokens, &penalty_rows, &penalty_positions, &penalty_tokens,
        &penalty_counts, &penalty_policies, &mask_rows, &mask_positions, &mask_words}) {
    array->clear();
  }
  for (auto* array : {&biases, &penalty_biases, &penalties}) array->clear();
  m_empty_words = unknown_mask;
}

void StepEdits::assign(const StepRequests& requests, std::int64_t active_vocabulary,
                       std::int64_t vocabulary) {
  clear();
  words_per_row = static_cast<std::size_t>((active_vocabulary + 31) / 32);
  const std::int64_t bound = vocabulary == 0 ? active_vocabulary : vocabulary;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    begin_request(requests, i);
    const GenerationConfig& config = requests.generation_configs[i];
    for (std::int64_t row = requests.first_row(i); row < requests.end_row(i); ++row) {
      const RowEdits::Place place{i, row, requests.draft_node(i, row - requests.first_row(i))};
      const TokenContext context = context_of(requests, place);
      m_penalty_row = {&history_of(requests, i), penalty_tokens.size()};
      if (config.has_penalty()) add_penalties(config, context, row);
      add_biases(requests, place, context, bound);
      add_mask(requests.sequence_states[i].mask, context.drafts, place);
    }
  }
  if (!penalty_biases.empty()) penalty_biases.resize(penalty_tokens.size(), no_bias);
}

void StepEdits::begin_request(const StepRequests& requests, std::size_t request) {
  const GenerationConfig& config = requests.generation_configs[request];
  begin_biases(config);
  begin_penalties(config, history_of(requests, request));
  const std::size_t nodes = requests.draft_trees ? (*requests.draft_trees)[request].size() : 0;
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

void StepEdits::add_mask(VocabularyMask* mask, std::span<const TokenId> drafts,
                         const RowEdits::Place& place) {
  std::int32_t& position = m_words_of_node[static_cast<std::size_t>(place.draft_node + 1)];
  if (position == unknown_mask) position = find_words(mask, drafts);
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
