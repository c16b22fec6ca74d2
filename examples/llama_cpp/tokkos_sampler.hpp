// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>

#include <llama.h>

#include <cstdint>
#include <string>
#include <vector>

/// What a sampler of Tokkos does. The defaults are llama.cpp's (common_params_sampling).
struct TokkosSamplerParameters {
  float temperature = 0.8f;  ///< at most 1e-5: greedy
  std::int32_t top_k = 40;   ///< 0: off
  float top_p = 0.95f;       ///< 1: off
  float min_p = 0.05f;       ///< 0: off
  std::int32_t penalty_policy = TOKKOS_PENALTY_LLAMA_CPP;
  std::int32_t penalty_last_n = 64;  ///< -1: all
  float penalty_repeat = 1.0f;
  float penalty_freq = 0.0f;
  float penalty_present = 0.0f;
  std::vector<llama_logit_bias> logit_bias = {};
  std::uint64_t seed = 0;
  std::string id = "0";  ///< names the random stream; one for each sequence
  /// Where a row is processed. The candidates are host memory.
  std::int32_t backend = TOKKOS_BACKEND_SERIAL;
};

/// A sampler in place of a chain: logit bias, penalties, temperature, top-k, top-p of what that
/// left, min-p, and the draw. Alone, or as the last of a chain, behind a grammar for instance.
///
/// It reads the candidates in any order, and those alone can come. It sets `selected`, and each
/// candidate's `p` to its probability after truncation; logits, order and size stay as they are.
/// Tokens that are accepted before it is first applied are the prompt. A clone goes on as the
/// original would; reset forgets prompt and tokens.
///
/// Where no token can be drawn (a NaN, nothing allowed) `selected` is -1, on which
/// llama_sampler_sample ends the program: llama_sampler_tokkos_error() says why.
///
/// @param n_vocab llama_vocab_n_tokens() of the model
/// @return null if a parameter is out of range: tokkos_last_error() says which
llama_sampler* llama_sampler_init_tokkos(std::int32_t n_vocab,
                                         const TokkosSamplerParameters& parameters);

/// Why the last llama_sampler_apply selected nothing, "" if it did. @param sampler one of Tokkos's
const char* llama_sampler_tokkos_error(const llama_sampler* sampler);
