// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>
#include <tokkos/request/step_requests.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tokkos {

/// The edits of a step as the flat arrays of the kernels, on the host: what LogitProcessor stages.
/// It is kept from step to step, so that its memory is reused.
struct StepEdits {
  // LogitBiasEdits: a token that a request biases twice stands here once, with the sum; one that is
  // penalized in its row stands below instead.
  std::vector<std::int32_t> bias_rows;
  std::vector<TokenId> bias_tokens;
  std::vector<float> biases;

  // PenaltyEdits: the counts of a row are those of its history and of its draft path.
  std::vector<std::int32_t> penalty_rows;       // seq_ids
  std::vector<std::int32_t> penalty_positions;  // pos2seq_id
  std::vector<TokenId> penalty_tokens;
  std::vector<std::int32_t> penalty_counts;
  std::vector<float> penalty_biases;  // NaN where the token has no bias
  std::vector<float> penalties;       // [penalty_rows, 3]

  // apply_bitmask_inplace: words of the masked rows only.
  std::vector<std::int32_t> mask_rows;
  std::vector<std::int32_t> mask_positions;  // 0, 1, 2, ...: where the words of each lie
  std::vector<std::int32_t> mask_words;      // [mask_rows, words_per_row]
  std::size_t words_per_row = 0;

  /// Flattens a step that was validated. Histories are only read; every matcher is rolled back to
  /// where it was, also when it throws, in which case these arrays are unspecified.
  void assign(const StepRequests& requests, std::int64_t active_vocabulary);

 private:
  void clear();
  void add_penalties(const StepRequests& requests, std::size_t request, std::int64_t row);
  void add_biases(const StepRequests& requests, std::size_t request, std::int64_t row,
                  std::size_t first_penalty);
  /// Index of a token's penalty among those of the last row, which begin at `first`; the number of
  /// all penalties if it has none.
  std::size_t find_penalty(const TokenHistory& history, std::size_t first, TokenId token) const;
  void add_masks(const StepRequests& requests, std::size_t request);

  std::vector<std::pair<TokenId, float>> m_merged;
};

}  // namespace tokkos
