// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/request/draft_tree.hpp>
#include <tokkos/request/edit_hook.hpp>
#include <tokkos/request/generation_config.hpp>
#include <tokkos/request/token_history.hpp>
#include <tokkos/request/vocabulary_mask.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tokkos {

/// What one request has behind it. Neither object is owned; both may be null.
struct SequenceState {
  const TokenHistory* history = nullptr;  ///< for penalties and the random stream
  VocabularyMask* mask = nullptr;         ///< used while a step is prepared, left as it was found
};

/// The requests of one step. Request i owns the rows [cum_num_token[i], cum_num_token[i + 1]) of
/// the logits, or row i without cum_num_token. Nothing is owned.
struct StepRequests {
  std::span<const GenerationConfig> generation_configs = {};  ///< [requests]
  std::span<const SequenceState> sequence_states = {};        ///< [requests]
  std::span<const std::string> request_ids = {};              ///< [requests], or empty
  /// [requests + 1], non-decreasing, from 0 to the number of rows.
  std::optional<std::span<const std::int32_t>> cum_num_token = {};
  /// [requests]; together with draft_token_indices or not at all.
  std::optional<std::span<const DraftTree>> draft_trees = {};
  /// [requests][rows of the request]: the draft node whose distribution the row is, -1 for the last
  /// committed token. A row is penalized and masked by the committed tokens and its node's path.
  std::optional<std::span<const std::vector<std::int32_t>>> draft_token_indices = {};
  /// Adds edits of the user's own to each row, or null.
  const EditHook* edit_hook = nullptr;

  /// Number of requests.
  std::size_t size() const { return generation_configs.size(); }
  /// The request's first row.
  std::int64_t first_row(std::size_t request) const;
  /// The row behind the request's last one.
  std::int64_t end_row(std::size_t request) const;
  /// Draft node of the request's row-th row, or -1.
  std::int32_t draft_node(std::size_t request, std::int64_t row) const;
};

/// Checks the whole step against the number of rows and the vocabulary.
/// @throws Error that names field, index, value and range
void validate(const StepRequests& requests, std::int64_t rows, std::int64_t vocabulary);

}  // namespace tokkos
