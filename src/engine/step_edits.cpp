// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/step_edits.hpp>

#include <algorithm>
#include <cfloat>
#include <limits>
#include <span>
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

/// One token's biases in list order, as one float32 that is finite unless it masks.
void merge_biases(std::span<const std::pair<TokenId, double>> list,
                  std::vector<std::pair<TokenId, float>>& merged) {
  merged.clear();
  for (const auto& [token, bias] : list) merged.emplace_back(token, static_cast<float>(bias));
  std::stable_sort(merged.begin(), merged.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (kept == 0 || merged[kept - 1].first != merged[i].first) {
      merged[kept++] = merged[i];
      continue;
    }
    float& sum = merged[kept - 1].second;
    const bool masks = sum < -FLT_MAX || merged[i].second < -FLT_MAX;
    sum = masks ? -std::numeric_limits<float>::infinity()
                : std::clamp(sum + merged[i].second, -0x1.fffffcp127f, 0x1.fffffcp127f);
  }
  merged.resize(kept);
}

const TokenHistory& history_of(const StepRequests& requests, std::size_t request) {
  static const TokenHistory none;
  const TokenHistory* history = requests.sequence_states[request].history;
  return history != nullptr ? *history : none;
}

}  // namespace

void StepEdits::clear() {
  for (auto* array : {&bias_rows, &bias_tokens, &penalty_rows, &penalty_positions, &penalty_tokens,
                      &penalty_counts, &mask_rows, &mask_positions, &mask_words}) {
    array->clear();
  }
  for (auto* array : {&biases, &penalty_biases, &penalties}) array->clear();
}

void StepEdits::assign(const StepRequests& requests, std::int64_t active_vocabulary) {
  clear();
  words_per_row = static_cast<std::size_t>((active_vocabulary + 31) / 32);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const GenerationConfig& config = requests.generation_configs[i];
    merge_biases(config.logit_bias, m_merged);
    for (std::int64_t row = requests.first_row(i); row < requests.end_row(i); ++row) {
      const std::size_t first_penalty = penalty_tokens.size();
      if (config.has_penalty()) add_penalties(requests, i, row);
      if (!m_merged.empty()) add_biases(requests, i, row, first_penalty);
    }
    if (requests.sequence_states[i].mask != nullptr) add_masks(requests, i);
  }
}

void StepEdits::add_penalties(const StepRequests& requests, std::size_t request, std::int64_t row) {
  const std::size_t first = penalty_tokens.size();
  const TokenHistory& history = history_of(requests, request);
  for (const TokenCount& entry : history.counts()) {
    penalty_tokens.push_back(entry.token);
    penalty_counts.push_back(entry.count);
  }
  std::int32_t node = requests.draft_node(request, row - requests.first_row(request));
  while (node != -1) {
    const DraftTree& tree = (*requests.draft_trees)[request];
    const TokenId token = tree.token_ids[static_cast<std::size_t>(node)];
    node = tree.parents[static_cast<std::size_t>(node)];
    const std::size_t place = find_penalty(history, first, token);
    if (place < penalty_tokens.size()) {
      ++penalty_counts[place];
    } else {
      penalty_tokens.push_back(token);
      penalty_counts.push_back(1);
    }
  }
  if (penalty_tokens.size() == first) return;
  const GenerationConfig& config = requests.generation_configs[request];
  penalty_positions.resize(penalty_tokens.size(), static_cast<std::int32_t>(penalty_rows.size()));
  penalty_biases.resize(penalty_tokens.size(), std::numeric_limits<float>::quiet_NaN());
  penalty_rows.push_back(static_cast<std::int32_t>(row));
  penalties.insert(penalties.end(),
                   {config.presence_penalty, config.frequency_penalty, config.repetition_penalty});
}

void StepEdits::add_biases(const StepRequests& requests, std::size_t request, std::int64_t row,
                           std::size_t first_penalty) {
  const bool penalized = first_penalty < penalty_tokens.size();
  const TokenHistory& history = history_of(requests, request);
  for (const auto& [token, bias] : m_merged) {
    const std::size_t place =
        penalized ? find_penalty(history, first_penalty, token) : penalty_tokens.size();
    if (place < penalty_tokens.size()) {
      penalty_biases[place] = bias;
    } else {
      bias_rows.push_back(static_cast<std::int32_t>(row));
      bias_tokens.push_back(token);
      biases.push_back(bias);
    }
  }
}

std::size_t StepEdits::find_penalty(const TokenHistory& history, std::size_t first,
                                    TokenId token) const {
  const std::int64_t known = history.index_of(token);
  if (known >= 0) return first + static_cast<std::size_t>(known);
  const auto drafts =
      penalty_tokens.begin() + static_cast<std::ptrdiff_t>(first + history.counts().size());
  return static_cast<std::size_t>(std::find(drafts, penalty_tokens.end(), token) -
                                  penalty_tokens.begin());
}

void StepEdits::add_masks(const StepRequests& requests, std::size_t request) {
  VocabularyMask& mask = *requests.sequence_states[request].mask;
  const std::int64_t first = requests.first_row(request);
  for (std::int64_t row = first; row < requests.end_row(request); ++row) {
    const std::int32_t node = requests.draft_node(request, row - first);
    AcceptedPath accepted(mask);
    bool refused = false;
    if (node != -1) {
      const DraftTree& tree = (*requests.draft_trees)[request];
      for (const std::int32_t step : tree.path(node)) {
        refused = refused || !accepted.accept(tree.token_ids[static_cast<std::size_t>(step)]);
      }
    }
    if (refused || mask.is_constrained()) {
      mask_positions.push_back(static_cast<std::int32_t>(mask_rows.size()));
      mask_rows.push_back(static_cast<std::int32_t>(row));
      mask_words.resize(mask_words.size() + words_per_row, 0);
      if (!refused) {
        mask.fill_next_bitmask(std::span(mask_words).last(words_per_row));
      }
    }
    accepted.rollback();
  }
}

}  // namespace tokkos
