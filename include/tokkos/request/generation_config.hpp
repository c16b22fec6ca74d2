// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/penalty_policy.hpp>
#include <tokkos/core/types.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tokkos {

/// How one request wants its tokens chosen.
struct GenerationConfig {
  /// Logits are divided by it; finite and >= 0, at most 1e-5 is greedy (see GreedyTies for ties).
  float temperature = 1.0f;
  /// Only this many of the most likely tokens may come; 0, or all there are and more: off.
  std::int32_t top_k = 0;
  /// Only the most likely tokens that together have this share of the probability may come, in (0,
  /// 1]; 1: off.
  float top_p = 1.0f;
  /// Only tokens at least this probable, compared with the most likely one, may come, in [0, 1]; 0:
  /// off. top_k, then top_p of what it left, then min_p; greedy requests ignore all three.
  float min_p = 0.0f;
  /// Which tokens the three penalties below change, and in which order.
  PenaltyPolicy penalty_policy = PenaltyPolicy::seed;
  /// Of policy llama_cpp: how many of the last tokens count, drafts included; -1 is all of them.
  std::int32_t penalty_window = 64;
  /// Subtracted once from each token generated before; finite.
  float presence_penalty = 0.0f;
  /// Subtracted times the number of times it was generated; finite.
  float frequency_penalty = 0.0f;
  /// Divides a positive logit of a token generated before, multiplies a negative one; finite, > 0.
  float repetition_penalty = 1.0f;
  /// (token, bias) pairs: finite as float32, or -infinity to forbid the token. A token that stands
  /// there twice gets both biases, added up in float32 in this order. A sum that overflows, of
  /// biases or with the logit, stops just inside the range, and the token stays allowed; a logit
  /// that comes to exactly -FLT_MAX has not overflowed and is forbidden, as by a bias of -FLT_MAX.
  std::vector<std::pair<TokenId, double>> logit_bias = {};
  /// The only tokens that may come, as mask bits of the request's rows; empty: every token may. Of
  /// tokens at or past the active vocabulary alone it allows nothing (status `empty`).
  std::vector<TokenId> allowed_token_ids = {};
  /// Tokens that never come: a bias of -infinity each (a long list is smaller as the
  /// allowed_token_ids that it leaves).
  std::vector<TokenId> banned_token_ids = {};
  /// Tokens that may not come before min_tokens (>= 0) were generated, drafts included.
  std::vector<TokenId> end_token_ids = {};
  /// See end_token_ids; where these are empty it forbids nothing.
  std::int32_t min_tokens = 0;
  /// n > 0: a token that would complete n tokens which stand in the prompt, the generated tokens or
  /// the draft path already may not come. 0: off.
  std::int32_t no_repeat_ngram_size = 0;
  /// Sequences of one token or more that may not come: the last token is forbidden where the
  /// others end the prompt, the generated tokens and the draft path.
  std::vector<std::vector<TokenId>> bad_words = {};
  /// Key of the request's random stream.
  std::uint64_t seed = 0;
  /// Number of the request's random stream, any; none: the hash of its id (request_stream).
  /// Requests of one seed and one number draw the same at the same position, whatever their ids.
  std::optional<std::uint32_t> stream = std::nullopt;

  /// Whether any penalty changes anything.
  bool has_penalty() const;

  /// Whether a draw is from fewer than all tokens.
  bool has_truncation() const;

  /// Whether tokens are forbidden that depend on what came before.
  bool bans_by_context() const {
    return min_tokens > 0 || no_repeat_ngram_size > 0 || !bad_words.empty();
  }
};

/// Checks every field of the config of request number `request` against a vocabulary. The number
/// stands in the error's field, "generation_configs[request].top_p".
/// @throws Error that names field, request or entry, value and range
void validate(const GenerationConfig& config, std::int64_t vocabulary, std::int64_t request);

}  // namespace tokkos
