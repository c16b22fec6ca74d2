// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/sampler.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>

#include "engine/check_engine.hpp"
#include "engine/draw_rows.hpp"
#include "engine/existing_columns.hpp"
#include "engine/staged_rows.hpp"
#include "engine/uniforms.hpp"
#include "kernels/instantiate.hpp"
#include "kernels/named_range.hpp"

#include <algorithm>
#include <array>

namespace tokkos {

namespace {

/// Checks what a draw writes against the rows that it reads.
template <class T, class Space>
void check_drawn(const char* rows_name, const Matrix<const T, Space>& rows,
                 const Vector<TokenId, Space>& tokens,
                 const Vector<std::int32_t, Space>& row_status) {
  const auto count = static_cast<std::int64_t>(rows.extent(0));
  check_vector("tokens", tokens, count);
  check_optional_vector("row_status", row_status, count);
  check_apart(
      std::array{NamedRange::of("tokens", tokens), NamedRange::of("row_status", row_status)},
      {std::array{NamedRange::of(rows_name, rows)}});
}

}  // namespace

std::vector<float> step_uniforms(const StepRequests& requests, std::int64_t rows, Purpose purpose) {
  validate(requests, rows, max_vocabulary);
  return uniforms_of_valid_step(requests, rows, purpose);
}

std::vector<float> uniforms_of_valid_step(const StepRequests& requests, std::int64_t rows,
                                          Purpose purpose) {
  std::vector<float> uniforms(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests.first_row(i) == requests.end_row(i)) continue;  // draws nothing
    const std::size_t generated = generated_tokens(requests, i);
    const std::uint32_t stream = stream_of(requests, i);
    const std::int64_t first = requests.first_row(i);
    std::vector<std::int32_t> depths;
    if (requests.draft_trees) depths = (*requests.draft_trees)[i].depths();
    std::vector<std::uint32_t> draws(depths.size() + 1);  // rows so far of each node, of -1 first
    for (std::int64_t row = first; row < requests.end_row(i); ++row) {
      const auto node = static_cast<std::size_t>(requests.draft_node(i, row - first) + 1);
      const std::int32_t depth = node == 0 ? 0 : depths[node - 1];
      const auto position =
          static_cast<std::uint32_t>(generated) + static_cast<std::uint32_t>(depth);
      uniforms[static_cast<std::size_t>(row)] = philox_uniform(
          requests.generation_configs[i].seed, position, draws[node]++, purpose, stream);
    }
  }
  return uniforms;
}

template <class ExecutionSpace>
Sampler<ExecutionSpace>::Sampler(const ExecutionSpace& space, std::int64_t max_num_token,
                                 std::int64_t vocab_size,
                                 std::optional<std::int64_t> active_vocabulary,
                                 EventTraceRecorder* trace_recorder)
    : m_space(space),
      m_max_num_token(max_num_token),
      m_vocab_size(vocab_size),
      m_active_vocabulary(checked_active_vocabulary(max_num_token, vocab_size, active_vocabulary)),
      m_trace_recorder(trace_recorder),
      m_workspace(max_num_token, vocab_size),
      m_cuts(max_num_token) {}

template <class ExecutionSpace>
template <LogitType Logit>
void Sampler<ExecutionSpace>::sample(const Matrix<const Logit, memory_space>& logits,
                                     const StepRequests& requests,
                                     const Vector<TokenId, memory_space>& tokens,
                                     std::span<const float> uniforms,
                                     const Vector<std::int32_t, memory_space>& row_status,
                                     GreedyTies ties) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_call(rows, static_cast<std::int64_t>(logits.extent(1)), m_max_num_token, m_vocab_size);
  validate(requests, rows, m_vocab_size);
  check_ties(ties);
  check_matrix("logits", logits, rows, static_cast<std::int64_t>(logits.extent(1)));
  check_drawn("the logits", logits, tokens, row_status);
  std::vector<float> own;
  if (uniforms.empty()) {
    own = uniforms_of_valid_step(requests, rows, Purpose::sample);
    uniforms = own;
  }
  check_uniforms("uniforms", uniforms, rows);
  const TracedStage stage(m_trace_recorder, "sampling", requests.request_ids);
  if (rows == 0) return;
  m_staging.begin(m_space, StagedRows<ExecutionSpace>::room(rows));
  const StagedRows<ExecutionSpace> staged(m_staging, requests, rows, uniforms);
  m_staging.upload(m_space);
  LogitRows<Logit, memory_space> step;
  step.logits = logits;
  step.temperature = staged.temperature();
  step.active_vocabulary = m_active_vocabulary;
  const auto measures = m_workspace.measures(rows);
  {
    const TracedStage softmax(m_trace_recorder, "softmax", requests.request_ids);
    measure(m_space, step, measures, row_status);
  }
  RowCuts<memory_space> cuts;
  if (staged.truncates()) {
    const TracedStage renormalization(m_trace_recorder, "renormalization by top p",
                                      requests.request_ids);
    cuts = m_cuts.cuts(rows);
    truncate(m_space, step, measures, staged.truncation(), cuts, row_status);
  }
  draw_rows(m_space, step, measures, staged.uniforms(), tokens, cuts, row_status, ties);
  m_staging.end(m_space);
}

template <class ExecutionSpace>
void Sampler<ExecutionSpace>::sample_from_probabilities(
    const Matrix<const float, memory_space>& probabilities, std::span<const float> uniforms,
    const Vector<TokenId, memory_space>& tokens,
    const Vector<std::int32_t, memory_space>& row_status) {
  const auto rows = static_cast<std::int64_t>(probabilities.extent(0));
  const auto columns = static_cast<std::int64_t>(probabilities.extent(1));
  check_call(rows, columns, m_max_num_token, m_vocab_size, "probabilities");
  check_matrix("probabilities", probabilities, rows, m_vocab_size);
  check_drawn("the probabilities", probabilities, tokens, row_status);
  check_uniforms("uniforms", uniforms, rows);
  const TracedStage stage(m_trace_recorder, "sampling", {});
  if (rows == 0) return;
  const auto count = static_cast<std::size_t>(rows);
  m_staging.begin(m_space, m_staging.template room<float>(count));
  const auto uniform = m_staging.template add<float>(count);
  std::ranges::copy(uniforms, m_staging.host(uniform).begin());
  m_staging.upload(m_space);
  tokkos::sample_from_probabilities(m_space, existing_columns(probabilities, m_active_vocabulary),
                                    m_staging.on_device(uniform), tokens, row_status);
  m_staging.end(m_space);
}

#define TOKKOS_INSTANTIATE_CLASS(Space) template class Sampler<Space>;
TOKKOS_FOR_EACH_SPACE(TOKKOS_INSTANTIATE_CLASS)

#define TOKKOS_INSTANTIATE(Space, Logit)                                \
  template void Sampler<Space>::sample<Logit>(                          \
      const Matrix<const Logit, MemoryOf<Space>>&, const StepRequests&, \
      const Vector<TokenId, MemoryOf<Space>>&, std::span<const float>,  \
      const Vector<std::int32_t, MemoryOf<Space>>&, GreedyTies);
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
