// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/model_rows.hpp"
#include "tools/decode/sibling_rows.hpp"
#include "tools/decode/statistics.hpp"
#include "tools/decode/step_batch.hpp"
#include "tools/decode/tree_shape.hpp"

#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace tokkos::tools {

/// Draws draft trees from a model, level by level, siblings without replacement. Its distributions
/// are edited, masked and truncated as the target's: what the target forbids would be rejected.
template <class ExecutionSpace>
class Drafter {
 public:
  using memory_space = MemoryOf<ExecutionSpace>;

  /// The model is referred to.
  Drafter(const ExecutionSpace& space, const NgramModel& model, TreeShape tree, std::int32_t batch,
          EventTraceRecorder* trace = nullptr)
      : m_space(space),
        m_model(model),
        m_tree(std::move(tree)),
        m_rows_per_request(m_tree.nodes() + 1),
        m_sampler(space, std::int64_t{batch} * m_rows_per_request, model.vocabulary(), std::nullopt,
                  trace),
        m_remaining(space, "tokkos::decode::draft_rows",
                    m_tree.width(m_tree.children.size() - 1) * batch, model.vocabulary()),
        m_probabilities(space, "tokkos::decode::draft_probs",
                        std::int64_t{batch} * m_rows_per_request, model.vocabulary()),
        m_tokens("tokkos::decode::draft_tokens",
                 static_cast<std::size_t>(batch) * static_cast<std::size_t>(m_rows_per_request)) {}

  /// Adds a tree to every request of the step.
  void draw(StepBatch& batch, LogitProcessor<ExecutionSpace>& processor, Statistics& statistics) {
    std::vector<std::int32_t> parents = {-1};
    std::int32_t first_child = 0;
    for (std::size_t depth = 0; depth < m_tree.children.size(); ++depth) {
      prepare_level(batch, parents, processor, statistics);
      const StageTimer timer(statistics, Stage::draft_draws);
      draw_level(batch, parents, first_child, static_cast<std::int32_t>(depth), statistics);
      const auto drawn = static_cast<std::size_t>(m_tree.children[depth]) * parents.size();
      parents.resize(drawn);
      std::iota(parents.begin(), parents.end(), first_child);
      first_child += static_cast<std::int32_t>(drawn);
    }
  }

  /// [count, V], a row per node, roots included (not written): what its token was drawn from.
  Matrix<const float, memory_space> probabilities(std::size_t count) const {
    return m_probabilities.first(count);
  }

 private:
  // The distributions after the nodes `parents`.
  void prepare_level(StepBatch& batch, const std::vector<std::int32_t>& parents,
                     LogitProcessor<ExecutionSpace>& processor, Statistics& statistics) {
    const std::size_t count = batch.size() * parents.size();
    {
      const StageTimer timer(statistics, Stage::preparation);
      processor.prepare(static_cast<std::int64_t>(count), batch.rows(parents));
      statistics.add_staged(processor.staged_bytes());
    }
    Matrix<float, memory_space> rows;
    {
      const StageTimer timer(statistics, Stage::draft_logits);
      rows = m_remaining.score(m_space, batch, m_model, count, statistics);
    }
    const StageTimer timer(statistics, Stage::draft_probabilities);
    processor.process(rows, distributions_of(batch, rows));
    m_space.fence("tokkos::decode::draft_probabilities");
  }

  // Draws all children of the nodes `parents`, first the first child of each, then the second...
  void draw_level(StepBatch& batch, const std::vector<std::int32_t>& parents,
                  std::int32_t first_child, std::int32_t depth, Statistics& statistics) {
    const std::size_t count = batch.size() * parents.size();
    const auto width = static_cast<std::int32_t>(parents.size());
    const auto tokens = vector_of<TokenId, memory_space>(m_tokens.data(), count);
    const Matrix<float, memory_space> remaining = m_remaining.first(count);
    for (std::int32_t i = 0; i < m_tree.children[static_cast<std::size_t>(depth)]; ++i) {
      const std::int32_t child = first_child + i * width;
      m_sampler.sample_from_probabilities(
          remaining, batch.draft_uniforms(child, parents.size(), depth + 1), tokens);
      statistics.add_staged(m_sampler.staged_bytes());
      store_and_exclude(
          m_space, remaining, tokens, {width, m_rows_per_request, child + 1},
          m_probabilities.first(batch.size() * static_cast<std::size_t>(m_rows_per_request)));
      batch.add_children(parents, to_host(m_space, m_tokens, count));
    }
  }

  ExecutionSpace m_space;
  const NgramModel& m_model;
  TreeShape m_tree;
  std::int32_t m_rows_per_request;
  Sampler<ExecutionSpace> m_sampler;
  ModelRows<ExecutionSpace> m_remaining;      // [batch * parents of a level, V]
  ModelRows<ExecutionSpace> m_probabilities;  // [batch * rows per request, V]
  Kokkos::View<TokenId*, memory_space> m_tokens;
};

}  // namespace tokkos::tools
