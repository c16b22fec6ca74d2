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
  // apply_logit_bias_inplace: a token that a request biases twice stands here once, with the sum.
  std::vector<std::int32_t> bias_rows;
  std::vector<TokenId> bias_tokens;
  std::vector<float> biases;

  // apply_penalty_inplace: the counts of a row are those of its history and of its draft path.
  std::vector<std::int32_t> penalty_rows;       // seq_ids
  std::vector<std::int32_t> penalty_positions;  // pos2seq_id
  std::vector<TokenId> penalty_tokens;
  std::vector<std::int32_t> penalty_counts;
  std::vector<float> penalties;  // [penalty_rows, 3]

  // apply_bitmask_inplace: words of the masked rows only.
  std::vector<std::int32_t> mask_rows;
  std::vector<std::int32_t> mask_words;  // [mask_rows, words_per_row]
  std::size_t words_per_row = 0;

  /// Flattens a step that was validated. Histories are only read; every matcher is rolled back to
  /// where it was, also when it throws, in which case these arrays are unspecified.
  void assign(const StepRequests& requests, std::int64_t active_vocabulary);

 private:
  void clear();
  void add_biases(const StepRequests& requests, std::size_t request);
  void add_penalties(const StepRequests& requests, std::size_t request);
  void add_masks(const StepRequests& requests, std::size_t request);

  std::vector<std::pair<TokenId, float>> m_merged;
};

}  // namespace tokkos
