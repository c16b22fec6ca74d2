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
      add_mask(requests.sequence_states[i].mask, context.drafts, row);
    }
  }
}

void StepEdits::begin_request(const StepRequests& requests, std::size_t request) {
  const GenerationConfig& config = requests.generation_configs[request];
  begin_biases(config);
  begin_penalties(config, history_of(requests, request));
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

void StepEdits::add_mask(VocabularyMask* mask, std::span<const TokenId> drafts, std::int64_t row) {
  if (mask == nullptr) {
    if (!m_allowed.empty()) std::ranges::copy(m_allowed, add_mask_words(row).begin());
    return;
  }
  AcceptedPath accepted(*mask);
  bool refused = false;
  for (const TokenId token : drafts) refused = refused || !accepted.accept(token);
  const bool constrained = !refused && mask->is_constrained();
  if (refused || constrained || !m_allowed.empty()) {
    const std::span<std::int32_t> words = add_mask_words(row);
    if (constrained) mask->fill_next_bitmask(words);
    if (constrained && !m_allowed.empty()) intersect_bitmask(words, m_allowed);
    if (!constrained && !refused) std::ranges::copy(m_allowed, words.begin());
  }
  accepted.rollback();
}

std::span<std::int32_t> StepEdits::add_mask_words(std::int64_t row) {
  mask_positions.push_back(static_cast<std::int32_t>(mask_rows.size()));
  mask_rows.push_back(static_cast<std::int32_t>(row));
  mask_words.resize(mask_words.size() + words_per_row, 0);
  return std::span(mask_words).last(words_per_row);
}

}  // namespace tokkos
