// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>
#include <tokkos/request/edit_hook.hpp>
#include <tokkos/request/step_requests.hpp>
#include <tokkos/request/token_context.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace tokkos {

/// The bias of a token that is penalized, too.
struct PenaltyBias {
  std::size_t place;  ///< of the penalty
  float bias;         ///< is added to its logit
};

/// The edits of a step as the flat arrays of the kernels, on the host: what LogitProcessor stages.
/// The row of every single edit is written out only there. It is kept from step to step, so that
/// its memory is reused.
struct StepEdits {
  // LogitBiasEdits: a token that a request biases twice stands here once, with the sum; one that is
  // penalized in its row stands below instead. Banned tokens have the bias -infinity.
  std::vector<std::size_t> bias_ends;  ///< [rows]: where the biases of each row end
  std::vector<TokenId> bias_tokens;    ///< row after row
  std::vector<float> biases;           ///< [bias_tokens]

  // PenaltyEdits: the counts of a row are those of its history and of its draft path, as far as its
  // policy counts them.
  std::vector<std::int32_t> penalty_rows;      ///< seq_ids
  std::vector<std::size_t> penalty_ends;       ///< [penalty_rows]: where the penalties of each end
  std::vector<TokenId> penalty_tokens;         ///< row after row
  std::vector<std::int32_t> penalty_counts;    ///< [penalty_tokens]
  std::vector<PenaltyBias> penalty_biases;     ///< of the tokens that have one too, by place
  std::vector<float> penalties;                ///< [penalty_rows, 3]
  std::vector<std::int32_t> penalty_policies;  ///< [penalty_rows]

  // apply_bitmask_inplace: words of the masked rows only, and of a request's rows behind the same
  // tokens once.
  std::vector<std::int32_t> mask_rows;       ///< rows of the logits that have a mask
  std::vector<std::int32_t> mask_positions;  ///< [mask_rows]: where the words of each lie
  std::vector<std::int32_t> mask_words;      ///< [masks, words_per_row]
  std::size_t words_per_row = 0;             ///< ceil(active vocabulary / 32)

  /// Most biases and penalties together that `assign` takes: tokens of rows, each counted once.
  std::size_t max_edits = std::numeric_limits<std::size_t>::max();

  /// Flattens a step that was validated: the penalties of all rows, then their biases, then their
  /// masks, each of them a stage of the trace. Histories are only read; every matcher is rolled
  /// back to where it was, also when it or the step's EditHook throws, in which case these arrays
  /// are unspecified.
  /// @param vocabulary V, the bound of what an EditHook adds; 0: the active vocabulary
  /// @param trace_recorder may be null
  /// @throws Error if there are more than max_edits
  void assign(const StepRequests& requests, std::int64_t active_vocabulary,
              std::int64_t vocabulary = 0, EventTraceRecorder* trace_recorder = nullptr);

 private:
  using Biases = std::vector<std::pair<TokenId, float>>;

  /// The penalties of a row: those of its history, in an order in which they can be found again,
  /// then those that only its drafts have.
  struct PenaltyRow {
    const TokenHistory* history = nullptr;
    std::size_t first = 0;      // of penalty_tokens
    std::size_t end = 0;        // of penalty_tokens
    std::size_t listed = 0;     // those of the history
    bool lists_prompt = false;  // whether prompt_only() stands behind counts()
    bool is_sorted = false;     // a window's tokens, ascending, instead of both
  };

  void clear();
  /// Throws if there are too many edits so far.
  void check_count() const;
  TokenContext context_of(const StepRequests& requests, const RowEdits::Place& place);

  void add_penalties(const StepRequests& requests);
  void begin_penalties(const GenerationConfig& config, const TokenHistory& history);
  void add_row_penalties(const GenerationConfig& config, const TokenContext& context,
                         PenaltyRow& row);
  void reserve_penalties(std::size_t count);
  void list_history(const GenerationConfig& config, PenaltyRow& row);
  void list_window(const TokenContext& context, std::size_t length, std::size_t drafts);
  /// Index of a token's penalty among those of a row; their end if it has none.
  std::size_t find_penalty(const PenaltyRow& row, TokenId token) const;

  void add_biases(const StepRequests& requests, std::int64_t vocabulary);
  void begin_biases(const GenerationConfig& config);
  void add_row_biases(const StepRequests& requests, const RowEdits::Place& place,
                      std::int64_t vocabulary);
  void add_row_biases(const Biases& merged, const RowEdits::Place& place);

  void add_masks(const StepRequests& requests);
  void begin_masks(const GenerationConfig& config, std::size_t nodes);
  void add_mask(const StepRequests& requests, const RowEdits::Place& place);
  /// Position of the words of the rows behind `drafts`, or no_mask.
  std::int32_t find_words(VocabularyMask* mask, std::span<const TokenId> drafts);
  std::int32_t allowed_words();
  std::int32_t empty_words();
  std::span<std::int32_t> add_words();
  std::int32_t last_words() const;

  static constexpr std::int32_t no_mask = -1;
  static constexpr std::int32_t unknown_mask = -2;

  // Of the request in hand.
  Biases m_request_biases;              // logit_bias and banned tokens, by token
  std::vector<TokenCount> m_window;     // what policy llama_cpp counts without drafts
  std::vector<std::int32_t> m_allowed;  // mask words of its allowed tokens; empty: all
  std::int32_t m_allowed_words = unknown_mask;
  std::vector<std::int32_t> m_words_of_node;  // of -1 first: position of its words
  // Of the row in hand.
  std::vector<TokenId> m_drafts;  // its path, root first
  std::vector<TokenCount> m_row_window;
  std::vector<TokenId> m_banned;
  Biases m_row_biases;
  // Of the step.
  std::vector<PenaltyRow> m_penalties_of;     // of each row
  std::int32_t m_empty_words = unknown_mask;  // words that allow nothing
};

}  // namespace tokkos
