// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/lm_head/lm_head_options.hpp>
#include <tokkos/lm_head/lm_head_step.hpp>

#include "kernels/check_edits.hpp"
#include "kernels/check_views.hpp"
#include "kernels/named_range.hpp"

#include <array>
#include <cfloat>
#include <cstdint>
#include <limits>

namespace tokkos {

/// Far above any model's; no product of sizes overflows below it.
inline constexpr std::int64_t max_hidden_size = std::int64_t{1} << 24;

/// Throws unless the weights are [V, d] and the options in their ranges.
template <LogitType Weight, class Space>
void check_lm_head(const Matrix<const Weight, Space>& weight, std::int64_t max_rows,
                   const LmHeadOptions& options) {
  const auto vocabulary = static_cast<std::int64_t>(weight.extent(0));
  const auto size = static_cast<std::int64_t>(weight.extent(1));
  check_vocabulary(vocabulary, options.active_vocabulary);
  require(size >= 1 && size <= max_hidden_size, "weight.extent", 1, size,
          "a hidden size in [1, 16777216]");
  check_matrix("weight", weight, vocabulary, size);
  require(max_rows >= 0 && max_rows <= 2147483647, "max_rows", std::nullopt, max_rows,
          "a number in [0, 2147483647]");
  const std::int64_t block = options.block_tokens;
  require(block >= 0 && block <= max_vocabulary && block % chunk_size == 0, "block_tokens",
          std::nullopt, block, "a multiple of 4096 up to 2147479552, or 0");
  require(options.scale > 0.0f && options.scale <= FLT_MAX, "scale", std::nullopt, options.scale,
          "a finite number above 0");
  require(options.soft_cap >= 0.0f && options.soft_cap <= FLT_MAX, "soft_cap", std::nullopt,
          options.soft_cap, "a finite number above 0, or 0");
  const auto product = static_cast<std::int64_t>(options.product);
  require(product == static_cast<std::int64_t>(LmHeadProduct::fixed_order) ||
              product == static_cast<std::int64_t>(LmHeadProduct::gemm),
          "product", std::nullopt, product, "fixed_order or gemm");
}

/// Throws unless hidden states are [n, d], n at most `max_rows`.
template <class Space>
void check_hidden(const Matrix<const float, Space>& hidden, std::int64_t max_rows,
                  std::int64_t size) {
  const auto rows = static_cast<std::int64_t>(hidden.extent(0));
  if (rows > max_rows) {
    throw Error("hidden.extent", 0, to_text(rows), "at most max_rows " + to_text(max_rows));
  }
  if (!is_left_out(hidden) || rows > 0) check_matrix("hidden", hidden, rows, size);
}

/// Throws unless the other inputs are those of n rows.
template <class Space>
void check_inputs(const LmHeadInputs<Space>& inputs, std::int64_t rows, std::int64_t active) {
  check_temperature(inputs.temperature, rows);
  check_edit_lists(inputs.biases, inputs.penalties);
  check_bitmask(inputs.bitmask, rows, active);
}

/// Throws unless what belongs together comes together.
inline void require_together(bool first, bool second, const char* missing, const char* given) {
  if (first == second) return;
  throw Error(missing, std::nullopt, "left out", std::string("given, because ") + given + " is");
}

/// Whether an output with a number for each row is asked for.
template <class T, class Space>
bool is_given(const Vector<T, Space>& view) {
  return view.data() != nullptr;
}

/// The outputs with nothing in place of lists that are left out, whose extents may be anything.
template <class Space>
LmHeadOutputs<Space> without_left_out(LmHeadOutputs<Space> outputs) {
  const auto clear = [](auto& list) {
    if (is_left_out(list)) list = {};
  };
  clear(outputs.given_tokens);
  clear(outputs.given_logprobs);
  clear(outputs.top_tokens);
  clear(outputs.top_logprobs);
  return outputs;
}

/// Throws unless tokens come with what they are drawn by, where there are rows.
template <class Space>
void check_drawn_by(const LmHeadOutputs<Space>& outputs, std::int64_t rows) {
  const bool draws = is_given(outputs.tokens);
  if (rows == 0) return;
  require_together(draws, is_given(outputs.uniforms), draws ? "uniforms" : "tokens",
                   draws ? "tokens" : "uniforms");
}

/// Throws unless the outputs are those of n rows.
template <class Space>
void check_outputs(const LmHeadOutputs<Space>& outputs, std::int64_t rows) {
  check_ties(outputs.ties);
  check_optional_vector("uniforms", outputs.uniforms, rows);
  check_optional_vector("tokens", outputs.tokens, rows);
  if (rows > 0 && is_given(outputs.token_logprobs)) {
    require_together(is_given(outputs.tokens), true, "tokens", "token_logprobs");
  }
  check_optional_vector("token_logprobs", outputs.token_logprobs, rows);
  check_optional_vector("log_sum_exp", outputs.log_sum_exp, rows);
  check_optional_vector("row_status", outputs.row_status, rows);

  if (!is_left_out(outputs.given_tokens) || !is_left_out(outputs.given_logprobs)) {
    const auto columns = static_cast<std::int64_t>(outputs.given_tokens.extent(1));
    check_matrix("given_tokens", outputs.given_tokens, rows, columns);
    check_matrix("given_logprobs", outputs.given_logprobs, rows, columns);
  }
  if (!is_left_out(outputs.top_tokens) || !is_left_out(outputs.top_logprobs)) {
    const auto columns = static_cast<std::int64_t>(outputs.top_tokens.extent(1));
    require(columns <= max_top_tokens, "top_tokens.extent", 1, columns, "at most 128 tokens a row");
    check_matrix("top_tokens", outputs.top_tokens, rows, columns);
    check_matrix("top_logprobs", outputs.top_logprobs, rows, columns);
  }
}

/// Throws if an output shares memory with another one, or with anything that is read.
template <LogitType Weight, class Space>
void check_step_apart(const Matrix<const Weight, Space>& weight, const LmHeadInputs<Space>& inputs,
                      const LmHeadOutputs<Space>& outputs) {
  const std::array written{NamedRange::of("tokens", outputs.tokens),
                           NamedRange::of("token_logprobs", outputs.token_logprobs),
                           NamedRange::of("log_sum_exp", outputs.log_sum_exp),
                           NamedRange::of("given_logprobs", outputs.given_logprobs),
                           NamedRange::of("top_tokens", outputs.top_tokens),
                           NamedRange::of("top_logprobs", outputs.top_logprobs),
                           NamedRange::of("row_status", outputs.row_status)};
  const std::array read{NamedRange::of("weight", weight),
                        NamedRange::of("hidden", inputs.hidden),
                        NamedRange::of("temperature", inputs.temperature),
                        NamedRange::of("bitmask", inputs.bitmask.words),
                        NamedRange::of("bitmask.row_index", inputs.bitmask.row_index),
                        NamedRange::of("uniforms", outputs.uniforms),
                        NamedRange::of("given_tokens", outputs.given_tokens)};
  check_apart(written, {read, ranges_of(inputs.biases), ranges_of(inputs.penalties)});
}

}  // namespace tokkos
