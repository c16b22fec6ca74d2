// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/model_rows.hpp"
#include "tools/decode/ngram_model.hpp"
#include "tools/decode/statistics.hpp"
#include "tools/decode/step_batch.hpp"
#include "tools/decode/token_score.hpp"

#include <tokkos/batch/views.hpp>
#include <tokkos/engine/event_trace_recorder.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tokkos::tools {

/// A token of each request, and what is known of them, where that was asked for.
struct DrawnStep {
  std::vector<TokenId> tokens;     ///< -1 where none could be drawn
  std::vector<TokenScore> scores;  ///< as many, or none
};

/// Draws straight from hidden states.
template <class ExecutionSpace>
class DirectDraw {
 public:
  virtual ~DirectDraw() = default;

  /// Whether it can draw for such a request.
  virtual bool takes(const GenerationConfig& config) const = 0;

  /// A token of each request, of those that it takes.
  /// @param most_likely of how many of the most likely tokens log-probabilities are wanted, beside
  ///   those of the drawn ones
  /// @param trace may be null
  virtual DrawnStep draw(const ExecutionSpace& space, const StepBatch& batch,
                         std::optional<std::int32_t> most_likely, EventTraceRecorder* trace,
                         Statistics& statistics) = 0;
};

/// The model whose distribution is generated from.
template <class ExecutionSpace>
class TargetModel {
 public:
  using memory_space = MemoryOf<ExecutionSpace>;

  virtual ~TargetModel() = default;

  virtual TokenId vocabulary() const = 0;

  /// The logits of the `count` rows of the batch that were chosen last, in `rows`.
  virtual Matrix<float, memory_space> score(const ExecutionSpace& space, const StepBatch& batch,
                                            std::size_t count,
                                            const ModelRows<ExecutionSpace>& rows,
                                            Statistics& statistics) = 0;

  /// The model's way to tokens without rows of logits; null if it has none.
  virtual DirectDraw<ExecutionSpace>* direct() { return nullptr; }
};

/// A model of counted words.
template <class ExecutionSpace>
class NgramTarget final : public TargetModel<ExecutionSpace> {
 public:
  using typename TargetModel<ExecutionSpace>::memory_space;

  /// The model is referred to.
  explicit NgramTarget(const NgramModel& model) : m_model(model) {}

  TokenId vocabulary() const override { return m_model.vocabulary(); }

  Matrix<float, memory_space> score(const ExecutionSpace& space, const StepBatch& batch,
                                    std::size_t count, const ModelRows<ExecutionSpace>& rows,
                                    Statistics& statistics) override {
    return rows.score(space, batch, m_model, count, statistics);
  }

 private:
  const NgramModel& m_model;
};

}  // namespace tokkos::tools
