// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/neural_model.hpp"
#include "tools/decode/target_model.hpp"

#include <tokkos/engine/sampler.hpp>
#include <tokkos/engine/step_edits.hpp>
#include <tokkos/lm_head/lm_head.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::tools {

/// A neural model whose last product the library does: for draft trees to rows of logits, else
/// straight to the tokens.
template <class ExecutionSpace>
class HeadTarget final : public TargetModel<ExecutionSpace>, public DirectDraw<ExecutionSpace> {
 public:
  using typename TargetModel<ExecutionSpace>::memory_space;

  /// @param max_rows most rows of a step
  HeadTarget(const ExecutionSpace& space, NeuralModel model, std::int64_t max_rows,
             const LmHeadOptions& options = {})
      : m_model(std::move(model)),
        m_weight("tokkos::decode::weight", static_cast<std::size_t>(m_model.vocabulary()),
                 NeuralModel::hidden_size),
        m_states("tokkos::decode::hidden", static_cast<std::size_t>(max_rows),
                 NeuralModel::hidden_size),
        m_states_on_host(Kokkos::create_mirror_view(m_states)),
        m_head(space, uploaded_weights(), max_rows, options) {}

  TokenId vocabulary() const override { return m_model.vocabulary(); }

  Matrix<float, memory_space> score(const ExecutionSpace& space, const StepBatch& batch,
                                    std::size_t count, const ModelRows<ExecutionSpace>& rows,
                                    Statistics& statistics) override {
    const Matrix<float, memory_space> logits = rows.first(count);
    m_head.logits(hidden(space, batch, count), logits);
    space.fence("tokkos::decode::logits");
    statistics.logits += static_cast<std::int64_t>(count) * vocabulary();
    return logits;
  }

  DirectDraw<ExecutionSpace>* direct() override { return this; }

  DrawnStep draw(const ExecutionSpace& space, const StepBatch& batch,
                 std::optional<std::int32_t> most_likely, EventTraceRecorder* trace,
                 Statistics& statistics) override {
    const std::size_t count = batch.size();
    const StepRequests requests = batch.rows();
    LmHeadInputs<memory_space> inputs;
    {
      const StageTimer timer(statistics, Stage::target_logits);
      inputs.hidden = hidden(space, batch, count);
    }
    {
      const StageTimer timer(statistics, Stage::preparation);
      const TracedStage traced(trace, "update logits", requests.request_ids);
      stage(inputs, requests);
      statistics.add_staged(staged_bytes());
    }
    const StageTimer timer(statistics, Stage::sampling);
    const TracedStage traced(trace, "sampling", requests.request_ids);
    const auto n = static_cast<std::int64_t>(count);
    const auto columns = static_cast<std::size_t>(most_likely.value_or(0));
    const Array<TokenId> tokens("tokkos::decode::tokens", count);
    const Array<float> logprobs("tokkos::decode::logprobs", count);
    const Rows<TokenId> top_tokens("tokkos::decode::top_tokens", count, columns);
    const Rows<float> top_logprobs("tokkos::decode::top_logprobs", count, columns);
    LmHeadOutputs<memory_space> outputs;
    outputs.uniforms = m_uniforms;
    outputs.tokens = tokens;
    if (most_likely) {
      outputs.token_logprobs = logprobs;
      outputs.top_tokens = top_tokens;
      outputs.top_logprobs = top_logprobs;
    }
    m_head.process(inputs, outputs);
    statistics.logits += n * vocabulary();
    DrawnStep step{to_host(space, tokens, count), {}};
    if (most_likely) {
      step.scores =
          scores(to_host(space, logprobs, count), on_host(top_tokens), on_host(top_logprobs));
    }
    return step;
  }

 private:
  template <class T>
  using Array = Kokkos::View<T*, memory_space>;
  template <class T>
  using Rows = Kokkos::View<T**, Kokkos::LayoutRight, memory_space>;

  Rows<float> uploaded_weights() const {
    const Kokkos::View<const float**, Kokkos::LayoutRight, Kokkos::HostSpace,
                       Kokkos::MemoryUnmanaged>
        host(m_model.output().data(), m_weight.extent(0), m_weight.extent(1));
    Kokkos::deep_copy(m_weight, host);
    return m_weight;
  }

  /// Hidden states of the rows of the batch that were chosen last.
  Matrix<const float, memory_space> hidden(const ExecutionSpace& space, const StepBatch& batch,
                                           std::size_t count) {
    batch.for_each_context(
        NeuralModel::context_length, [&](std::size_t row, std::span<const TokenId> context) {
          m_model.hidden(context, {&m_states_on_host(row, 0), NeuralModel::hidden_size});
        });
    const auto chosen = std::pair<std::size_t, std::size_t>(0, count);
    Kokkos::deep_copy(space, Kokkos::subview(m_states, chosen, Kokkos::ALL),
                      Kokkos::subview(m_states_on_host, chosen, Kokkos::ALL));
    return Kokkos::subview(m_states, chosen, Kokkos::ALL);
  }

  template <class T>
  static Array<T> on_device(const std::vector<T>& values) {
    const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(),
                                                                                  values.size());
    Array<T> device("tokkos::decode::staged", values.size());
    Kokkos::deep_copy(device, host);
    return device;
  }
  template <class T>
  static std::vector<T> on_host(const Rows<T>& rows) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rows);
    return {host.data(), host.data() + host.size()};
  }

  /// Edits, masks and temperatures of a step.
  void stage(LmHeadInputs<memory_space>& inputs, const StepRequests& requests) {
    m_edits.assign(requests, vocabulary());
    std::vector<float> temperature;
    for (const GenerationConfig& config : requests.generation_configs) {
      temperature.push_back(config.temperature);
    }
    m_floats = {on_device(temperature), on_device(m_edits.biases), on_device(penalty_biases()),
                on_device(m_edits.penalties)};
    m_integers = {on_device(places(m_edits.bias_ends)), on_device(m_edits.bias_tokens),
                  on_device(m_edits.penalty_rows),      on_device(places(m_edits.penalty_ends)),
                  on_device(m_edits.penalty_tokens),    on_device(m_edits.penalty_counts),
                  on_device(m_edits.penalty_policies),  on_device(m_edits.mask_words),
                  on_device(mask_rows(requests.size()))};
    m_uniforms = on_device(step_uniforms(requests, static_cast<std::int64_t>(requests.size())));
    inputs.temperature = m_floats[0];
    inputs.biases = {m_integers[0], m_integers[1], m_floats[1]};
    inputs.penalties.seq_ids = m_integers[2];
    inputs.penalties.pos2seq_id = m_integers[3];
    inputs.penalties.token_ids = m_integers[4];
    inputs.penalties.token_cnt = m_integers[5];
    inputs.penalties.penalties = Matrix<const float, memory_space>(
        m_floats[3].data(), Kokkos::LayoutStride(m_edits.penalty_rows.size(), 3, 3, 1));
    if (!m_edits.penalty_biases.empty()) inputs.penalties.biases = m_floats[2];
    inputs.penalties.policies = m_integers[6];
    if (m_edits.mask_rows.empty()) return;
    const std::size_t words = m_edits.words_per_row;
    inputs.bitmask.words = Matrix<const std::int32_t, memory_space>(
        m_integers[7].data(),
        Kokkos::LayoutStride(m_edits.mask_words.size() / words, words, words, 1));
    inputs.bitmask.row_index = m_integers[8];
  }

  std::size_t staged_bytes() const {
    std::size_t bytes = m_uniforms.size() * sizeof(float);
    for (const auto& array : m_floats) bytes += array.size() * sizeof(float);
    for (const auto& array : m_integers) bytes += array.size() * sizeof(std::int32_t);
    return bytes;
  }

  /// Of every element the place of its row, from where the elements of each row end.
  static std::vector<std::int32_t> places(const std::vector<std::size_t>& ends) {
    std::vector<std::int32_t> result;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      result.resize(ends[i], static_cast<std::int32_t>(i));
    }
    return result;
  }

  /// Of every penalty the bias of its token; NaN where it has none.
  std::vector<float> penalty_biases() const {
    if (m_edits.penalty_biases.empty()) return {};
    std::vector<float> biases(m_edits.penalty_tokens.size(),
                              std::numeric_limits<float>::quiet_NaN());
    for (const PenaltyBias& one : m_edits.penalty_biases) biases[one.place] = one.bias;
    return biases;
  }

  std::vector<std::int32_t> mask_rows(std::size_t count) const {
    std::vector<std::int32_t> positions(count, -1);
    for (std::size_t i = 0; i < m_edits.mask_rows.size(); ++i) {
      positions[static_cast<std::size_t>(m_edits.mask_rows[i])] = m_edits.mask_positions[i];
    }
    return positions;
  }

  static std::vector<TokenScore> scores(const std::vector<float>& logprobs,
                                        const std::vector<TokenId>& tokens,
                                        const std::vector<float>& values) {
    std::vector<TokenScore> all(logprobs.size());
    const std::size_t columns = tokens.size() / std::max<std::size_t>(logprobs.size(), 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].log_probability = logprobs[i];
      for (std::size_t j = i * columns; j < (i + 1) * columns && tokens[j] >= 0; ++j) {
        all[i].most_likely.emplace_back(tokens[j], values[j]);
      }
    }
    return all;
  }

  NeuralModel m_model;
  Rows<float> m_weight;
  Rows<float> m_states;
  typename Rows<float>::host_mirror_type m_states_on_host;
  LmHead<ExecutionSpace, float> m_head;
  StepEdits m_edits;
  std::array<Array<float>, 4> m_floats;
  std::array<Array<std::int32_t>, 9> m_integers;
  Array<float> m_uniforms;
};

}  // namespace tokkos::tools
