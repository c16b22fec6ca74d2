// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/drafter.hpp"
#include "tools/decode/model_rows.hpp"
#include "tools/decode/ngram_model.hpp"
#include "tools/decode/statistics.hpp"
#include "tools/decode/step_batch.hpp"
#include "tools/decode/target_model.hpp"
#include "tools/decode/token_scorer.hpp"
#include "tools/decode/tree_shape.hpp"

#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/logit_processor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::tools {

/// What to generate for one request.
struct RequestSettings {
  GenerationConfig config;
  std::vector<TokenId> prompt;
  std::shared_ptr<const ConstraintRule> rule;  ///< or null
};

/// What to generate.
struct GeneratorSettings {
  std::vector<RequestSettings> requests;
  std::int32_t max_tokens = 1;  ///< per request
  TreeShape tree;
  bool speculate = true;
  /// Where log-probabilities are wanted: of how many of the most likely tokens, beside those of the
  /// generated ones.
  std::optional<std::int32_t> most_likely = {};
  /// Gets the stages of every step; not owned, may be null.
  EventTraceRecorder* trace = nullptr;
};

/// Generates texts of a target model, request-0, request-1, ..., step by step: with draft trees of
/// a draft model and lossless verification, or token by token. Both draw from the same
/// distribution.
template <class ExecutionSpace>
class Generator {
 public:
  using memory_space = MemoryOf<ExecutionSpace>;

  /// The models are referred to. @throws Error if a setting is out of range
  Generator(const ExecutionSpace& space, const NgramModel& target, const NgramModel& draft,
            const GeneratorSettings& settings)
      : Generator(space, std::make_shared<NgramTarget<ExecutionSpace>>(target), draft, settings) {}

  /// The draft model is referred to. @throws Error if a setting is out of range
  Generator(const ExecutionSpace& space, std::shared_ptr<TargetModel<ExecutionSpace>> target,
            const NgramModel& draft, const GeneratorSettings& settings)
      : m_space(space),
        m_target(std::move(target)),
        m_settings(settings),
        m_rows_per_request(settings.speculate ? settings.tree.nodes() + 1 : 1),
        m_processor(space, rows(), vocabulary(), std::nullopt, settings.trace),
        m_verifier(space, rows(), vocabulary(), std::nullopt, settings.trace),
        m_logits(space, "tokkos::decode::logits", needs_logits() ? rows() : 0, vocabulary()),
        m_tokens("tokkos::decode::tokens", static_cast<std::size_t>(rows())) {
    if (settings.speculate) m_drafter.emplace(space, draft, settings.tree, batch(), settings.trace);
    if (settings.most_likely) {
      m_scorer.emplace(space, rows(), vocabulary(), *settings.most_likely);
      m_probabilities = ModelRows<ExecutionSpace>(space, "tokkos::decode::probabilities",
                                                  settings.speculate ? rows() : 0, vocabulary());
    }
    for (const RequestSettings& given : settings.requests) {
      DecodeRequest& request = m_requests.emplace_back();
      request.id = "request-" + std::to_string(m_requests.size() - 1);
      request.config = given.config;
      request.history = TokenHistory(given.prompt);
      if (given.rule) request.constraint.emplace(given.rule);
    }
  }

  /// One step of every request that is not finished. False: all are.
  bool step() {
    m_batch.begin(m_requests);
    if (m_batch.size() == 0) return false;
    ++m_statistics.steps;
    m_statistics.request_steps += static_cast<std::int64_t>(m_batch.size());
    m_settings.speculate ? step_with_drafts() : step_without_drafts();
    return true;
  }

  const std::vector<DecodeRequest>& requests() const { return m_requests; }
  const Statistics& statistics() const { return m_statistics; }

 private:
  using Logits = Matrix<float, memory_space>;
  using Outputs = StepOutputs<memory_space>;

  TokenId vocabulary() const { return m_target->vocabulary(); }
  std::int32_t batch() const { return static_cast<std::int32_t>(m_settings.requests.size()); }
  std::int64_t rows() const { return std::int64_t{batch()} * m_rows_per_request; }

  // Whether some step may need whole rows of logits.
  bool needs_logits() const {
    return m_settings.speculate || m_target->direct() == nullptr ||
           std::ranges::any_of(m_settings.requests, [&](const RequestSettings& request) {
             return !m_target->direct()->takes(request.config);
           });
  }

  // The target's logits of a step, which is prepared before the model runs.
  Logits prepare_and_score(const StepRequests& requests, std::size_t count) {
    {
      const StageTimer timer(m_statistics, Stage::preparation);
      m_processor.prepare(static_cast<std::int64_t>(count), requests,
                          {.store_mask = m_scorer.has_value()});
      m_statistics.add_staged(m_processor.staged_bytes());
    }
    const StageTimer timer(m_statistics, Stage::target_logits);
    return m_target->score(m_space, m_batch, count, m_logits, m_statistics);
  }

  void step_with_drafts() {
    m_drafter->draw(m_batch, m_processor, m_statistics);
    std::vector<std::int32_t> nodes(static_cast<std::size_t>(m_rows_per_request));
    std::iota(nodes.begin(), nodes.end(), -1);
    const std::size_t count = m_batch.size() * nodes.size();
    const StepRequests requests = m_batch.rows(std::move(nodes));
    const Logits logits = prepare_and_score(requests, count);
    const Logits probabilities = m_scorer ? m_probabilities.first(count) : logits;
    {
      const StageTimer timer(m_statistics, Stage::target_probabilities);
      m_processor.process(logits, distributions_of(m_batch, probabilities));
      m_space.fence("tokkos::decode::probabilities");
    }
    std::vector<VerifiedDraft> verified;
    {
      const StageTimer timer(m_statistics, Stage::verification);
      verified = m_verifier.verify(probabilities, m_drafter->probabilities(count), m_batch.trees(),
                                   verify_uniforms(requests), m_batch.ids());
      m_statistics.add_staged(m_verifier.staged_bytes());
    }
    DrawnTokens drawn;
    for (std::size_t i = 0; i < verified.size(); ++i) {
      auto row = static_cast<std::int32_t>(i) * m_rows_per_request;
      const std::int32_t first_node = row + 1;
      for (std::size_t j = 0; j < verified[i].tokens.size(); ++j) {
        drawn.add(row, verified[i].tokens[j], m_batch.request(i).config);
        const auto& nodes_of_path = verified[i].accepted_nodes;
        if (j < nodes_of_path.size()) row = first_node + nodes_of_path[j];
      }
    }
    const std::vector<TokenScore> scores = score(logits, drawn);
    const StageTimer timer(m_statistics, Stage::commit);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < verified.size(); ++i) {
      commit(m_batch.request(i), verified[i].tokens, verified[i].accepted_nodes.size(),
             std::span(scores).subspan(m_scorer ? begin : 0));
      begin += verified[i].tokens.size();
    }
  }

  void step_without_drafts() {
    const DrawnStep drawn = draw_without_drafts();
    const StageTimer timer(m_statistics, Stage::commit);
    for (std::size_t i = 0; i < drawn.tokens.size(); ++i) {
      const std::size_t usable = drawn.tokens[i] >= 0 ? 1 : 0;
      commit(m_batch.request(i), std::span(drawn.tokens).subspan(i, usable), 0,
             std::span(drawn.scores).subspan(m_scorer ? i : 0));
    }
  }

  bool takes_all(const DirectDraw<ExecutionSpace>& direct) const {
    const StepRequests requests = m_batch.rows();
    return std::ranges::all_of(requests.generation_configs, [&](const GenerationConfig& config) {
      return direct.takes(config);
    });
  }

  DrawnStep draw_without_drafts() {
    if (auto* direct = m_target->direct(); direct != nullptr && takes_all(*direct)) {
      return direct->draw(m_space, m_batch, m_settings.most_likely, m_settings.trace, m_statistics);
    }
    const std::size_t count = m_batch.size();
    const Logits logits = prepare_and_score(m_batch.rows(), count);
    DrawnStep step;
    {
      const StageTimer timer(m_statistics, Stage::sampling);
      Outputs outputs;
      outputs.tokens = vector_of<TokenId, memory_space>(m_tokens.data(), count);
      m_processor.process(logits, outputs);
      step.tokens = to_host(m_space, m_tokens, count);
    }
    DrawnTokens drawn;
    for (std::size_t i = 0; i < count; ++i) {
      drawn.add(static_cast<std::int32_t>(i), step.tokens[i], m_batch.request(i).config);
    }
    step.scores = score(logits, drawn);
    return step;
  }

  // One score per token, or none at all where none are wanted.
  std::vector<TokenScore> score(const Logits& logits, const DrawnTokens& drawn) {
    if (!m_scorer) return {};
    const StageTimer timer(m_statistics, Stage::log_probabilities);
    return m_scorer->score(logits, drawn);
  }

  // `tokens` are `accepted` drafts and then the bonus token; without one the request can't go on.
  void commit(DecodeRequest& request, std::span<const TokenId> tokens, std::size_t accepted,
              std::span<const TokenScore> scores) {
    const bool stuck = tokens.size() == accepted;
    ++request.steps;
    for (std::size_t i = 0; i < tokens.size() && !request.finished; ++i) {
      request.history.commit(tokens[i]);
      if (request.constraint) request.constraint->accept(tokens[i]);
      ++m_statistics.tokens;
      request.accepted += i < accepted ? 1 : 0;
      m_statistics.accepted += i < accepted ? 1 : 0;
      if (m_scorer) keep_score(request, scores[i]);
      request.finished =
          request.history.generated().size() == static_cast<std::size_t>(m_settings.max_tokens) ||
          (request.constraint && request.constraint->finished());
    }
    if (stuck && !request.finished) {
      request.finished = true;
      ++m_statistics.bad_rows;
    }
  }

  void keep_score(DecodeRequest& request, const TokenScore& score) {
    request.scores.push_back(score);
    ++m_statistics.scored;
    m_statistics.log_probability += static_cast<double>(score.log_probability);
  }

  ExecutionSpace m_space;
  std::shared_ptr<TargetModel<ExecutionSpace>> m_target;
  GeneratorSettings m_settings;
  std::int32_t m_rows_per_request;
  LogitProcessor<ExecutionSpace> m_processor;
  DraftVerifier<ExecutionSpace> m_verifier;
  std::optional<Drafter<ExecutionSpace>> m_drafter;
  std::optional<TokenScorer<ExecutionSpace>> m_scorer;
  StepBatch m_batch;
  std::vector<DecodeRequest> m_requests;
  // [batch * rows per request, V]: logits, which probabilities replace unless tokens are scored.
  ModelRows<ExecutionSpace> m_logits;
  ModelRows<ExecutionSpace> m_probabilities;
  Kokkos::View<TokenId*, memory_space> m_tokens;
  Statistics m_statistics;
};

}  // namespace tokkos::tools
