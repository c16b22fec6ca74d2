// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/constraint.hpp"
#include "tools/decode/ngram_model.hpp"
#include "tools/decode/token_score.hpp"

#include <tokkos/request/step_requests.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tokkos::tools {

/// One text in the making.
struct DecodeRequest {
  std::string id;
  GenerationConfig config;
  TokenHistory history;
  std::optional<Constraint> constraint;
  bool finished = false;
  std::vector<TokenScore> scores;  ///< of each generated token, if they are wanted
  std::int64_t steps = 0;
  std::int64_t accepted = 0;  ///< generated tokens that were drafts
};

/// The requests of one step with their draft trees, all of the same shape.
class StepBatch {
 public:
  /// Starts over with the requests that are not finished. Keep `requests` where they are, and their
  /// configs as they are.
  void begin(std::span<DecodeRequest> requests);

  std::size_t size() const { return m_active.size(); }
  /// Whether some request draws from fewer than all words.
  bool truncates() const {
    return std::ranges::any_of(m_configs, &GenerationConfig::has_truncation);
  }
  DecodeRequest& request(std::size_t i) { return *m_active[i]; }
  std::span<const std::string> ids() const { return m_ids; }
  std::span<const DraftTree> trees() const { return m_trees; }

  /// Adds to each request a child of each of `parents`.
  /// @param tokens [size() * parents]; -1 becomes token 0, see store_and_exclude
  void add_children(std::span<const std::int32_t> parents, std::span<const TokenId> tokens);

  /// Philox uniforms for the draws of the nodes first, first + 1, ... of each request, `count`
  /// each; `depth` is theirs, 1 for children of the last committed token.
  std::vector<float> draft_uniforms(std::int32_t first, std::size_t count,
                                    std::int32_t depth) const;

  /// The step with one row per request, without drafts.
  StepRequests rows() const;
  /// The step in which each request has a row for each of `nodes` (-1: the last committed token).
  /// Refers to this object until the next call.
  StepRequests rows(std::vector<std::int32_t> nodes);

  /// Calls body(row, context) for the rows that were chosen last, in parallel on the host.
  /// @param length of a context at most: the last tokens before the row's next one, oldest first
  void for_each_context(
      std::size_t length,
      const std::function<void(std::size_t row, std::span<const TokenId> context)>& body) const;

  /// Writes the model's logits of the rows that were chosen last.
  /// @param logits on the host, [size() * nodes, vocabulary]
  void score(const NgramModel& model, float* logits) const;

 private:
  std::vector<TokenId> context(std::size_t request, std::int32_t node, std::size_t length) const;

  std::vector<DecodeRequest*> m_active;
  std::vector<GenerationConfig> m_configs;
  std::vector<SequenceState> m_states;
  std::vector<std::string> m_ids;
  std::vector<DraftTree> m_trees;
  std::vector<std::int32_t> m_nodes = {-1};
  std::vector<std::int32_t> m_cum_num_token;
  std::vector<std::vector<std::int32_t>> m_indices;
};

}  // namespace tokkos::tools
