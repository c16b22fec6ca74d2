// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/lm_head/lm_head_processor.hpp>

#include "core/float_order.hpp"
#include "engine/check_engine.hpp"
#include "engine/prepared_step.hpp"
#include "engine/uniforms.hpp"
#include "kernels/instantiate.hpp"
#include "lm_head/check_step.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tokkos {

namespace {

/// Whether a top_k leaves tokens out.
bool keeps_fewer(std::int32_t top_k, std::int64_t active) {
  return top_k > 0 && top_k < active;
}

}  // namespace

bool needs_whole_row(const GenerationConfig& config, std::int64_t active_vocabulary) {
  if (config.temperature <= greedy_temperature) return false;
  return keeps_fewer(config.top_k, active_vocabulary) || config.top_p < 1.0f ||
         float_order(config.min_p) > 0;
}

namespace {

/// Throws if a request has to be drawn from a whole row: blocks do not say what a row's order is.
void check_no_whole_rows(const StepRequests& requests, std::int64_t active) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const GenerationConfig& config = requests.generation_configs[i];
    if (!needs_whole_row(config, active)) continue;
    const std::string name = "generation_configs[" + std::to_string(i) + "]";
    const char* expected =
        "a request that does not truncate: others take LmHead::logits and LogitProcessor";
    if (keeps_fewer(config.top_k, active)) {
      throw Error(name + ".top_k", std::nullopt, to_text(config.top_k), expected);
    }
    const bool is_top_p = config.top_p < 1.0f;
    throw Error(name + (is_top_p ? ".top_p" : ".min_p"), std::nullopt,
                to_text(is_top_p ? config.top_p : config.min_p), expected);
  }
}

/// What the head is given, in the blob of a step.
template <class ExecutionSpace>
LmHeadInputs<MemoryOf<ExecutionSpace>> inputs_of(
    const PreparedStep<ExecutionSpace>& step,
    const Matrix<const float, MemoryOf<ExecutionSpace>>& hidden) {
  const StagedEdits<ExecutionSpace>& edits = step.edits();
  return {.hidden = hidden,
          .temperature = step.rows().temperature(),
          .biases = edits.biases(),
          .penalties = edits.penalties(),
          .bitmask = {.words = edits.mask_words(), .row_index = step.mask_positions()}};
}

}  // namespace

template <class ExecutionSpace, LogitType Weight>
LmHeadProcessor<ExecutionSpace, Weight>::LmHeadProcessor(const LmHead<ExecutionSpace, Weight>& head,
                                                         EventTraceRecorder* trace_recorder)
    : m_head(&head), m_trace_recorder(trace_recorder) {
  check_kokkos();
  head.check_alive();
  m_prepared = std::make_unique<PreparedStep<ExecutionSpace>>(head.m_space, "LmHeadProcessor");
}

template <class ExecutionSpace, LogitType Weight>
LmHeadProcessor<ExecutionSpace, Weight>::~LmHeadProcessor() = default;
template <class ExecutionSpace, LogitType Weight>
LmHeadProcessor<ExecutionSpace, Weight>::LmHeadProcessor(LmHeadProcessor&&) noexcept = default;
template <class ExecutionSpace, LogitType Weight>
LmHeadProcessor<ExecutionSpace, Weight>& LmHeadProcessor<ExecutionSpace, Weight>::operator=(
    LmHeadProcessor&&) noexcept = default;

template <class ExecutionSpace, LogitType Weight>
std::size_t LmHeadProcessor<ExecutionSpace, Weight>::staging_capacity() const {
  return m_prepared ? m_prepared->capacity() : 0;
}

template <class ExecutionSpace, LogitType Weight>
void LmHeadProcessor<ExecutionSpace, Weight>::check_not_moved_from() const {
  if (m_prepared != nullptr) return;
  throw Error("LmHeadProcessor", std::nullopt, "moved from", "one that was not");
}

template <class ExecutionSpace, LogitType Weight>
void LmHeadProcessor<ExecutionSpace, Weight>::set_max_edits(std::int64_t most) {
  check_not_moved_from();
  m_prepared->set_max_edits(most);
}

template <class ExecutionSpace, LogitType Weight>
void LmHeadProcessor<ExecutionSpace, Weight>::check_step(
    const Matrix<const float, memory_space>& hidden, const StepRequests& requests,
    const LmHeadOutputs<memory_space>& outputs) const {
  check_kokkos();
  m_head->check_alive();
  check_hidden(hidden, m_head->max_rows(), m_head->hidden_size());
  const auto rows = static_cast<std::int64_t>(hidden.extent(0));
  validate(requests, rows, m_head->vocabulary());
  check_no_whole_rows(requests, m_head->active_vocabulary());
  if (is_given(outputs.uniforms)) {
    throw Error("outputs.uniforms", std::nullopt, "given",
                "left out: give them as the last argument");
  }
  check_outputs(outputs, rows);
  LmHeadInputs<memory_space> inputs;
  inputs.hidden = hidden;
  check_step_apart(m_head->m_weight, inputs, outputs);
}

template <class ExecutionSpace, LogitType Weight>
void LmHeadProcessor<ExecutionSpace, Weight>::process(
    const Matrix<const float, memory_space>& hidden, const StepRequests& requests,
    const LmHeadOutputs<memory_space>& outputs, std::span<const float> uniforms) {
  check_not_moved_from();
  const typename PreparedStep<ExecutionSpace>::Call call(*m_prepared);
  check_step(hidden, requests, outputs);
  const auto rows = static_cast<std::int64_t>(hidden.extent(0));
  const bool draws = is_given(outputs.tokens);
  std::vector<float> own;
  if (draws && uniforms.empty()) {
    own = uniforms_of_valid_step(requests, rows, Purpose::sample);
    uniforms = own;
  }
  if (draws || !uniforms.empty()) check_uniforms("uniforms", uniforms, rows);
  if (rows == 0) return;
  const ExecutionSpace& space = m_head->m_space;
  {
    const TracedStage update(m_trace_recorder, "update logits", requests.request_ids);
    m_prepared->flatten(requests, m_head->vocabulary(), m_head->active_vocabulary(),
                        m_trace_recorder);
    m_prepared->stage(space, requests, rows, uniforms, {.ties = outputs.ties});
    m_staged_bytes = m_prepared->blob().size();
  }
  const TracedStage sampling(m_trace_recorder, "sampling", requests.request_ids);
  LmHeadOutputs<memory_space> asked = outputs;
  if (draws) asked.uniforms = m_prepared->rows().uniforms();
  m_prepared->launch(space, [&] { m_head->process(inputs_of(*m_prepared, hidden), asked); });
}

#define TOKKOS_INSTANTIATE(Space, Weight) template class LmHeadProcessor<Space, Weight>;
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
