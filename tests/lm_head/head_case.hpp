// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>
#include <tokkos/lm_head/lm_head_options.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tokkos::test {

/// Edit of one logit.
struct HeadEdit {
  std::int32_t row;
  std::int32_t token;
  float bias = 0.0f;        ///< a bias alone where count is -1
  std::int32_t count = -1;  ///< a penalty: how often the token stands there
};

/// A step of an LM head on the host.
struct HeadCase {
  std::int64_t rows = 1;
  std::int64_t vocabulary = 1;
  std::int64_t size = 1;                 ///< d
  std::vector<float> hidden;             ///< [n, d]
  std::vector<float> weight;             ///< [V, d], before it is stored
  std::vector<float> temperature{1.0f};  ///< [1] or [n]
  std::vector<float> uniforms;           ///< [n]
  std::vector<HeadEdit> edits;
  std::vector<float> penalties;          ///< [n, 3] or empty: row i is group i
  std::vector<std::int32_t> policies;    ///< [n] or empty
  std::vector<std::int32_t> words;       ///< [m, ceil(V / 32)] or empty
  std::vector<std::int32_t> mask_index;  ///< [n] or empty
  std::vector<TokenId> given;            ///< [n, m]
  std::int64_t top = 0;
  LmHeadOptions options;

  std::int64_t mask_width() const { return (vocabulary + 31) / 32; }
  std::int64_t given_columns() const { return static_cast<std::int64_t>(given.size()) / rows; }

  /// The same step of some of its rows alone.
  HeadCase part(std::int64_t begin, std::int64_t count) const;
};

/// Hidden states and weights whose logits are like a model's, uniforms, some given tokens.
HeadCase plain_case(std::int64_t rows, std::int64_t vocabulary, std::int64_t size,
                    std::uint64_t seed);

/// With everything that a step can have: edits of every policy, masks of some rows, mixed
/// temperatures, scale and cap, a vocabulary that is not active to its end.
HeadCase full_case(std::int64_t rows, std::int64_t vocabulary, std::int64_t size,
                   std::uint64_t seed);

/// What a step says; floats as their bits, so that NaN and -0 count.
struct HeadResults {
  std::vector<TokenId> tokens;
  std::vector<std::uint32_t> token_logprobs;
  std::vector<std::uint32_t> log_sum_exp;
  std::vector<std::uint32_t> given_logprobs;
  std::vector<TokenId> top_tokens;
  std::vector<std::uint32_t> top_logprobs;
  std::vector<std::int32_t> status;

  bool operator==(const HeadResults&) const = default;
  /// Appends the results of more rows.
  void append(const HeadResults& more);
};

}  // namespace tokkos::test
