// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/neural_model.hpp"
#include "tools/decode/target_model.hpp"

#include <tokkos/lm_head/lm_head.hpp>
#include <tokkos/lm_head/lm_head_processor.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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
        m_head(std::make_unique<Head>(space, uploaded_weights(), max_rows, options)) {}

  TokenId vocabulary() const override { return m_model.vocabulary(); }

  Matrix<float, memory_space> score(const ExecutionSpace& space, const StepBatch& batch,
                                    std::size_t count, const ModelRows<ExecutionSpace>& rows,
                                    Statistics& statistics) override {
    const Matrix<float, memory_space> logits = rows.first(count);
    m_head->logits(hidden(space, batch, count), logits);
    space.fence("tokkos::decode::logits");
    statistics.logits += static_cast<std::int64_t>(count) * vocabulary();
    return logits;
  }

  DirectDraw<ExecutionSpace>* direct() override { return this; }

  bool takes(const GenerationConfig& config) const override {
    return !needs_whole_row(config, vocabulary());
  }

  DrawnStep draw(const ExecutionSpace& space, const StepBatch& batch,
                 std::optional<std::int32_t> most_likely, EventTraceRecorder* trace,
                 Statistics& statistics) override {
    const std::size_t count = batch.size();
    Matrix<const float, memory_space> states;
    {
      const StageTimer timer(statistics, Stage::target_logits);
      states = hidden(space, batch, count);
    }
    const StageTimer timer(statistics, Stage::sampling);
    const auto n = static_cast<std::int64_t>(count);
    const auto columns = static_cast<std::size_t>(most_likely.value_or(0));
    const Array<TokenId> tokens("tokkos::decode::tokens", count);
    const Array<float> logprobs("tokkos::decode::logprobs", count);
    const Rows<TokenId> top_tokens("tokkos::decode::top_tokens", count, columns);
    const Rows<float> top_logprobs("tokkos::decode::top_logprobs", count, columns);
    LmHeadOutputs<memory_space> outputs;
    outputs.tokens = tokens;
    if (most_likely) {
      outputs.token_logprobs = logprobs;
      outputs.top_tokens = top_tokens;
      outputs.top_logprobs = top_logprobs;
    }
    LmHeadProcessor<ExecutionSpace, float>& processor = processor_with(trace);
    processor.process(states, batch.rows(), outputs);
    statistics.add_staged(processor.staged_bytes());
    statistics.logits += n * vocabulary();
    DrawnStep step{to_host(space, tokens, count), {}};
    if (most_likely) {
      step.scores =
          scores(to_host(space, logprobs, count), on_host(top_tokens), on_host(top_logprobs));
    }
    return step;
  }

 private:
  using Head = LmHead<ExecutionSpace, float>;
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
  static std::vector<T> on_host(const Rows<T>& rows) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rows);
    return {host.data(), host.data() + host.size()};
  }

  LmHeadProcessor<ExecutionSpace, float>& processor_with(EventTraceRecorder* trace) {
    if (!m_processor || m_trace != trace) m_processor.emplace(*m_head, trace);
    m_trace = trace;
    return *m_processor;
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
  std::unique_ptr<Head> m_head;  // stays where it is when this moves: the processor refers to it
  std::optional<LmHeadProcessor<ExecutionSpace, float>> m_processor;
  EventTraceRecorder* m_trace = nullptr;  // of m_processor
};

}  // namespace tokkos::tools
