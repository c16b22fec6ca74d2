// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/lm_head/lm_head.hpp>

#include "kernels/logit_block.hpp"
#include "lm_head/head_case.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace tokkos::test {

/// A step in device memory: `Backend::logit` is the type of the weights. Hidden states and weights
/// have padded rows.
template <class Backend>
class DeviceHead {
 public:
  using Space = typename Backend::execution_space;
  using Memory = typename Backend::memory_space;
  using Weight = typename Backend::logit;
  static constexpr std::int64_t padding = 3;
  static constexpr float unwritten = -77.5f;

  explicit DeviceHead(const HeadCase& head, const Space& space = Space())
      : m_space(space),
        m_case(head),
        m_hidden(on_device<Memory>(head.hidden, head.size, padding,
                                   std::numeric_limits<float>::quiet_NaN())),
        m_weight(on_device<Memory>(stored(head.weight), head.size, padding,
                                   narrow<Weight>(std::numeric_limits<float>::quiet_NaN()))),
        m_temperature(on_device<Memory>(head.temperature)),
        m_uniforms(on_device<Memory>(head.uniforms)),
        m_penalties(on_device<Memory>(head.penalties, 3, 1, 0.0f)),
        m_policies(on_device<Memory>(head.policies)),
        m_words(on_device<Memory>(head.words, head.mask_width(), 1, std::int32_t{-1})),
        m_mask_index(on_device<Memory>(head.mask_index)),
        m_given(on_device<Memory>(head.given, head.given_columns(), 0, TokenId{-9})),
        m_tokens("tokens", rows()),
        m_status("status", rows()),
        m_token_logprobs("token_logprobs", rows()),
        m_log_sum_exp("log_sum_exp", rows()),
        m_given_logprobs("given_logprobs", rows(), static_cast<std::size_t>(head.given_columns())),
        m_top_tokens("top_tokens", rows(), static_cast<std::size_t>(head.top)),
        m_top_logprobs("top_logprobs", rows(), static_cast<std::size_t>(head.top)) {
    Kokkos::deep_copy(m_given_logprobs, unwritten);
    Kokkos::deep_copy(m_top_logprobs, unwritten);
    place_edits();
    Kokkos::fence("tokkos::test::made");
  }

  Matrix<const float, Memory> hidden() const {
    return Matrix<const float, Memory>(m_hidden.data(),
                                       layout(m_case.rows, m_case.size + padding, m_case.size));
  }
  Matrix<const Weight, Memory> weight() const {
    return Matrix<const Weight, Memory>(
        m_weight.data(), layout(m_case.vocabulary, m_case.size + padding, m_case.size));
  }

  LmHeadInputs<Memory> inputs() const {
    LmHeadInputs<Memory> inputs;
    inputs.hidden = hidden();
    inputs.temperature = m_temperature;
    inputs.biases = {m_bias_rows, m_bias_tokens, m_bias_values};
    inputs.penalties.seq_ids = m_seq_ids;
    inputs.penalties.pos2seq_id = m_positions;
    inputs.penalties.token_ids = m_penalty_tokens;
    inputs.penalties.token_cnt = m_counts;
    inputs.penalties.penalties =
        Matrix<const float, Memory>(m_penalties.data(), layout(m_penalties.extent(0), 4, 3));
    inputs.penalties.biases = m_penalty_biases;
    inputs.penalties.policies = m_policies;
    inputs.bitmask.row_index = m_mask_index;
    if (!m_case.words.empty()) {
      inputs.bitmask.words = Matrix<const std::int32_t, Memory>(
          m_words.data(), layout(m_words.extent(0), m_case.mask_width() + 1, m_case.mask_width()));
    }
    return inputs;
  }

  LmHeadOutputs<Memory> outputs() const {
    LmHeadOutputs<Memory> outputs;
    outputs.uniforms = m_uniforms;
    outputs.tokens = m_tokens;
    outputs.token_logprobs = m_token_logprobs;
    outputs.log_sum_exp = m_log_sum_exp;
    outputs.given_tokens = m_given;
    outputs.given_logprobs = m_given_logprobs;
    outputs.top_tokens = m_top_tokens;
    outputs.top_logprobs = m_top_logprobs;
    outputs.row_status = m_status;
    return outputs;
  }

  LmHead<Space, Weight> head(std::int64_t max_rows = 0) const {
    return LmHead<Space, Weight>(m_space, weight(), std::max(max_rows, m_case.rows),
                                 m_case.options);
  }

  /// By blocks.
  HeadResults stream(GreedyTies ties = GreedyTies::uniform, std::int64_t max_rows = 0) const {
    const LmHead<Space, Weight> made = head(max_rows);
    LmHeadOutputs<Memory> asked = outputs();
    asked.ties = ties;
    made.process(inputs(), asked);
    return results();
  }

  /// By whole rows of logits and the kernels that everyone else uses.
  HeadResults whole(GreedyTies ties = GreedyTies::uniform) const {
    const Kokkos::View<float**, Kokkos::LayoutRight, Memory> logits(
        "logits", rows(), static_cast<std::size_t>(m_case.vocabulary));
    const LmHead<Space, Weight> made = head();
    made.logits(hidden(), logits);
    const LmHeadInputs<Memory> in = inputs();
    const LmHeadOutputs<Memory> out = outputs();
    tokkos::apply_edits<Space, float>(m_space, logits, in.biases, in.penalties, out.row_status);
    LogitRows<float, Memory> given;
    given.logits = logits;
    given.temperature = in.temperature;
    given.bitmask = in.bitmask;
    given.active_vocabulary = m_case.options.active_vocabulary;
    const Workspace<Memory> workspace(m_case.rows, m_case.vocabulary);
    const RowMeasures<Memory> measures = workspace.measures(m_case.rows);
    tokkos::measure(m_space, given, measures, out.row_status);
    tokkos::draw(m_space, given, measures, out.uniforms, out.tokens, out.row_status, ties);
    tokkos::log_sum_exp(m_space, given, measures, out.log_sum_exp);
    tokkos::log_probabilities(m_space, given, measures, out.given_tokens, out.given_logprobs, {},
                              out.row_status);
    tokkos::log_probabilities(m_space, given, measures, Vector<const TokenId, Memory>(out.tokens),
                              out.token_logprobs);
    tokkos::top_log_probabilities(m_space, given, measures, out.top_tokens, out.top_logprobs);
    return results();
  }

  /// The logits [n, V] of LmHead::logits.
  std::vector<float> logits() const {
    const Kokkos::View<float**, Kokkos::LayoutRight, Memory> logits(
        "logits", rows(), static_cast<std::size_t>(m_case.vocabulary));
    head().logits(hidden(), logits);
    m_space.fence("tokkos::test::logits");
    return on_host(logits);
  }

  HeadResults results() const {
    m_space.fence("tokkos::test::results");
    return {on_host(m_tokens),
            bits(on_host(m_token_logprobs)),
            bits(on_host(m_log_sum_exp)),
            bits(on_host(m_given_logprobs)),
            on_host(m_top_tokens),
            bits(on_host(m_top_logprobs)),
            on_host(m_status)};
  }

 private:
  static Kokkos::LayoutStride layout(std::size_t rows, std::size_t stride, std::size_t width) {
    return Kokkos::LayoutStride(rows, stride, width, 1);
  }
  std::size_t rows() const { return static_cast<std::size_t>(m_case.rows); }

  static std::vector<Weight> stored(const std::vector<float>& values) {
    std::vector<Weight> weights;
    for (const float value : values) weights.push_back(narrow<Weight>(value));
    return weights;
  }

  static std::vector<std::uint32_t> bits(const std::vector<float>& values) {
    std::vector<std::uint32_t> all;
    for (const float value : values) all.push_back(std::bit_cast<std::uint32_t>(value));
    return all;
  }

  void place_edits() {
    std::vector<std::int32_t> bias_rows, bias_tokens, groups, positions, tokens, counts;
    std::vector<float> bias_values, biases;
    for (const HeadEdit& edit : m_case.edits) {
      if (edit.count == -1) {
        bias_rows.push_back(edit.row);
        bias_tokens.push_back(edit.token);
        bias_values.push_back(edit.bias);
      } else {
        positions.push_back(edit.row);
        tokens.push_back(edit.token);
        counts.push_back(edit.count);
        biases.push_back(edit.bias);
      }
    }
    for (std::int32_t i = 0; i < m_case.rows && !m_case.penalties.empty(); ++i) groups.push_back(i);
    m_bias_rows = on_device<Memory>(bias_rows);
    m_bias_tokens = on_device<Memory>(bias_tokens);
    m_bias_values = on_device<Memory>(bias_values);
    m_seq_ids = on_device<Memory>(groups);
    m_positions = on_device<Memory>(positions);
    m_penalty_tokens = on_device<Memory>(tokens);
    m_counts = on_device<Memory>(counts);
    m_penalty_biases = on_device<Memory>(biases);
  }

  template <class T>
  using Array = Kokkos::View<T*, Memory>;
  template <class T>
  using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;

  Space m_space;
  HeadCase m_case;
  Rows<float> m_hidden;
  Rows<Weight> m_weight;
  Array<float> m_temperature, m_uniforms;
  Rows<float> m_penalties;
  Array<std::int32_t> m_policies;
  Rows<std::int32_t> m_words;
  Array<std::int32_t> m_mask_index;
  Rows<TokenId> m_given;
  Array<std::int32_t> m_bias_rows, m_bias_tokens, m_seq_ids, m_positions, m_penalty_tokens,
      m_counts;
  Array<float> m_bias_values, m_penalty_biases;
  Array<TokenId> m_tokens;
  Array<std::int32_t> m_status;
  Array<float> m_token_logprobs, m_log_sum_exp;
  Rows<float> m_given_logprobs;
  Rows<TokenId> m_top_tokens;
  Rows<float> m_top_logprobs;
};

}  // namespace tokkos::test
