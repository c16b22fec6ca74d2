// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/ngram_model.hpp"
#include "tools/decode/sibling_rows.hpp"
#include "tools/decode/statistics.hpp"
#include "tools/decode/step_batch.hpp"
#include "tools/decode/tree_shape.hpp"

#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace tokkos::tools {

/// What to generate.
struct GeneratorSettings {
  GenerationConfig config;                     ///< of every request
  std::vector<TokenId> prompt;                 ///< of every request
  std::shared_ptr<const ConstraintRule> rule;  ///< of every request, or null
  std::int32_t batch = 1;
  std::int32_t max_tokens = 1;  ///< per request
  TreeShape tree;
  bool speculate = true;
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
      : m_space(space),
        m_target(target),
        m_draft(draft),
        m_settings(settings),
        m_rows_per_request(settings.speculate ? settings.tree.nodes() + 1 : 1),
        m_processor(space, rows(), target.vocabulary()),
        m_sampler(space, rows(), target.vocabulary()),
        m_verifier(space, rows(), target.vocabulary()),
        m_batch(settings.config),
        m_model_rows(allocate("tokkos::decode::model_rows", rows())),
        m_tokens("tokkos::decode::tokens", static_cast<std::size_t>(rows())) {
    if (settings.speculate) {
      const std::int64_t parents = settings.tree.width(settings.tree.children.size() - 1);
      m_draft_rows = allocate("tokkos::decode::draft_rows", parents * settings.batch);
      m_draft_probs = allocate("tokkos::decode::draft_probs", rows());
    }
    m_host_model_rows = Kokkos::create_mirror_view(m_model_rows);
    m_host_draft_rows = Kokkos::create_mirror_view(m_draft_rows);
    for (std::int32_t i = 0; i < settings.batch; ++i) {
      DecodeRequest& request = m_requests.emplace_back();
      request.id = "request-" + std::to_string(i);
      request.history = TokenHistory(settings.prompt);
      if (settings.rule) request.constraint.emplace(settings.rule);
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
  using Rows = Kokkos::View<float**, Kokkos::LayoutRight, memory_space>;
  using HostRows = typename Rows::host_mirror_type;

  std::int64_t rows() const { return std::int64_t{m_settings.batch} * m_rows_per_request; }

  Rows allocate(const std::string& label, std::int64_t row_count) const {
    return Rows(Kokkos::view_alloc(Kokkos::WithoutInitializing, m_space, label),
                static_cast<std::size_t>(row_count),
                static_cast<std::size_t>(m_target.vocabulary()));
  }

  static Matrix<float, memory_space> first_rows(const Rows& all, std::size_t count) {
    const Kokkos::LayoutStride layout(count, all.extent(1), all.extent(1), 1);
    return Matrix<float, memory_space>(all.data(), layout);
  }

  // Host backends write the rows in place; a device gets them by one copy.
  void score(const NgramModel& model, std::size_t count, const Rows& all, const HostRows& host) {
    m_batch.score(model, host.data());
    if (static_cast<const void*>(host.data()) != static_cast<const void*>(all.data())) {
      const auto chosen = std::pair<std::size_t, std::size_t>(0, count);
      Kokkos::deep_copy(m_space, Kokkos::subview(all, chosen, Kokkos::ALL),
                        Kokkos::subview(host, chosen, Kokkos::ALL));
      m_space.fence("tokkos::decode::upload");
    }
    m_statistics.logits += static_cast<std::int64_t>(count) * m_target.vocabulary();
  }

  void count_staged(std::size_t bytes) {
    m_statistics.staged_bytes += static_cast<std::int64_t>(bytes);
  }

  void update(const Matrix<float, memory_space>& logits, const StepRequests& requests) {
    m_processor.inplace_update_logits(logits, requests);
    count_staged(m_processor.staged_bytes());
    m_space.fence("tokkos::decode::update_logits");
  }

  void softmax(const Matrix<float, memory_space>& logits, const StepRequests& requests) {
    m_processor.compute_probs_from_logits(logits, requests, logits);
    count_staged(m_processor.staged_bytes());
    m_space.fence("tokkos::decode::softmax");
  }

  template <class T>
  std::vector<T> to_host(const Kokkos::View<T*, memory_space>& view, std::size_t count) {
    std::vector<T> values(count);
    Kokkos::deep_copy(m_space, Kokkos::View<T*, Kokkos::HostSpace>(values.data(), count),
                      Kokkos::subview(view, std::pair<std::size_t, std::size_t>(0, count)));
    m_space.fence("tokkos::decode::download");
    return values;
  }

  void step_with_drafts() {
    std::vector<std::int32_t> parents = {-1};
    std::int32_t first_child = 0;
    for (std::size_t depth = 0; depth < m_settings.tree.children.size(); ++depth) {
      draft_level(parents, first_child, static_cast<std::int32_t>(depth));
      const auto drawn = static_cast<std::size_t>(m_settings.tree.children[depth]) * parents.size();
      parents.resize(drawn);
      std::iota(parents.begin(), parents.end(), first_child);
      first_child += static_cast<std::int32_t>(drawn);
    }
    verify_drafts();
  }

  // Draws all children of the nodes `parents`, first the first child of each, then the second...
  void draft_level(const std::vector<std::int32_t>& parents, std::int32_t first_child,
                   std::int32_t depth) {
    const std::size_t count = m_batch.size() * parents.size();
    const auto width = static_cast<std::int32_t>(parents.size());
    const StepRequests requests = m_batch.rows(parents);
    const Matrix<float, memory_space> remaining = first_rows(m_draft_rows, count);
    {
      const StageTimer timer(m_statistics, Stage::draft_logits);
      score(m_draft, count, m_draft_rows, m_host_draft_rows);
    }
    {
      const StageTimer timer(m_statistics, Stage::draft_probabilities);
      m_processor.process(remaining, requests, {.probabilities = remaining});
      count_staged(m_processor.staged_bytes());
      m_space.fence("tokkos::decode::draft_probabilities");
    }
    const StageTimer timer(m_statistics, Stage::draft_draws);
    const auto tokens = vector_of<TokenId, memory_space>(m_tokens.data(), count);
    for (std::int32_t i = 0; i < m_settings.tree.children[static_cast<std::size_t>(depth)]; ++i) {
      const std::int32_t child = first_child + i * width;
      m_sampler.sample_from_probabilities(
          remaining, m_batch.draft_uniforms(child, parents.size(), depth + 1), tokens);
      count_staged(m_sampler.staged_bytes());
      store_and_exclude(m_space, remaining, tokens, {width, m_rows_per_request, child + 1},
                        Matrix<float, memory_space>(m_draft_probs));
      m_batch.add_children(parents, to_host(m_tokens, count));
    }
  }

  void verify_drafts() {
    std::vector<std::int32_t> nodes(static_cast<std::size_t>(m_rows_per_request));
    std::iota(nodes.begin(), nodes.end(), -1);
    const std::size_t count = m_batch.size() * nodes.size();
    const StepRequests requests = m_batch.rows(std::move(nodes));
    const Matrix<float, memory_space> probabilities = first_rows(m_model_rows, count);
    {
      const StageTimer timer(m_statistics, Stage::target_logits);
      score(m_target, count, m_model_rows, m_host_model_rows);
    }
    {
      const StageTimer timer(m_statistics, Stage::update_logits);
      update(probabilities, requests);
    }
    {
      const StageTimer timer(m_statistics, Stage::softmax);
      softmax(probabilities, requests);
    }
    std::vector<VerifiedDraft> verified;
    {
      const StageTimer timer(m_statistics, Stage::verification);
      verified = m_verifier.verify(probabilities, first_rows(m_draft_probs, count), m_batch.trees(),
                                   verify_uniforms(requests), m_batch.ids());
      count_staged(m_verifier.staged_bytes());
    }
    const StageTimer timer(m_statistics, Stage::commit);
    for (std::size_t i = 0; i < verified.size(); ++i) {
      commit(m_batch.request(i), verified[i].tokens, verified[i].accepted_nodes.size());
    }
  }

  void step_without_drafts() {
    const std::size_t count = m_batch.size();
    const StepRequests requests = m_batch.rows();
    const Matrix<float, memory_space> logits = first_rows(m_model_rows, count);
    {
      const StageTimer timer(m_statistics, Stage::target_logits);
      score(m_target, count, m_model_rows, m_host_model_rows);
    }
    {
      const StageTimer timer(m_statistics, Stage::update_logits);
      update(logits, requests);
    }
    std::vector<TokenId> tokens;
    {
      const StageTimer timer(m_statistics, Stage::sampling);
      m_sampler.sample_from_logits(logits, requests,
                                   vector_of<TokenId, memory_space>(m_tokens.data(), count));
      count_staged(m_sampler.staged_bytes());
      tokens = to_host(m_tokens, count);
    }
    const StageTimer timer(m_statistics, Stage::commit);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t usable = tokens[i] >= 0 ? 1 : 0;
      commit(m_batch.request(i), std::span<const TokenId>(tokens).subspan(i, usable), 0);
    }
  }

  // `tokens` are `accepted` drafts and then the bonus token; without one the request can't go on.
  void commit(DecodeRequest& request, std::span<const TokenId> tokens, std::size_t accepted) {
    const bool stuck = tokens.size() == accepted;
    for (std::size_t i = 0; i < tokens.size() && !request.finished; ++i) {
      request.history.commit(tokens[i]);
      if (request.constraint) request.constraint->accept(tokens[i]);
      ++m_statistics.tokens;
      m_statistics.accepted += i < accepted ? 1 : 0;
      request.finished =
          request.history.generated().size() == static_cast<std::size_t>(m_settings.max_tokens) ||
          (request.constraint && request.constraint->finished());
    }
    if (stuck && !request.finished) {
      request.finished = true;
      ++m_statistics.bad_rows;
    }
  }

  ExecutionSpace m_space;
  const NgramModel& m_target;
  const NgramModel& m_draft;
  GeneratorSettings m_settings;
  std::int32_t m_rows_per_request;
  LogitProcessor<ExecutionSpace> m_processor;
  Sampler<ExecutionSpace> m_sampler;
  DraftVerifier<ExecutionSpace> m_verifier;
  StepBatch m_batch;
  std::vector<DecodeRequest> m_requests;
  Rows m_model_rows;   // [batch * rows per request, V] logits, then probabilities in place
  Rows m_draft_rows;   // [batch * parents of a level, V] the same of the draft model
  Rows m_draft_probs;  // [batch * rows per request, V]
  HostRows m_host_model_rows;
  HostRows m_host_draft_rows;
  Kokkos::View<TokenId*, memory_space> m_tokens;
  Statistics m_statistics;
};

}  // namespace tokkos::tools
