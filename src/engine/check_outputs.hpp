// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/step_outputs.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include "kernels/check_views.hpp"

#include <cstdint>
#include <optional>

namespace tokkos {

/// Whether something besides plain probabilities is made of the logits.
template <class Space>
bool reads_logits(const StepOutputs<Space>& outputs) {
  return outputs.tokens.data() != nullptr || outputs.top_tokens.data() != nullptr ||
         outputs.truncated_probabilities.data() != nullptr;
}

/// Checks probabilities [n, V] that a step writes.
template <LogitType Logit, class Space>
void check_probabilities(const char* field, const Matrix<Logit, Space>& logits,
                         const Matrix<float, Space>& probabilities) {
  if (probabilities.data() == nullptr && probabilities.extent(0) == 0) return;
  check_matrix(field, probabilities, static_cast<std::int64_t>(logits.extent(0)),
               static_cast<std::int64_t>(logits.extent(1)));
  LogitRows<Logit, Space> in_place;
  in_place.logits = logits;
  check_overlap(in_place, probabilities);
}

/// Checks what a step is asked to write against its logits.
template <LogitType Logit, class Space>
void check_outputs(const Matrix<Logit, Space>& logits, const StepOutputs<Space>& outputs) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_matrix("logits", logits, rows, static_cast<std::int64_t>(logits.extent(1)));
  check_optional_vector("tokens", outputs.tokens, rows);
  check_optional_vector("logprobs", outputs.logprobs, rows);
  check_optional_vector("log_sum_exp", outputs.log_sum_exp, rows);
  check_optional_vector("row_status", outputs.row_status, rows);
  if (outputs.logprobs.data() != nullptr && outputs.tokens.data() == nullptr && rows > 0) {
    throw Error("tokens", std::nullopt, "empty", "a View: logprobs are those of its tokens");
  }
  const auto listed = static_cast<std::int64_t>(outputs.top_tokens.extent(1));
  if (outputs.top_tokens.data() != nullptr || outputs.top_logprobs.data() != nullptr) {
    require(listed <= max_top_tokens, "top_tokens.extent", 1, listed, "at most 128");
    check_matrix("top_tokens", outputs.top_tokens, rows, listed);
    check_matrix("top_logprobs", outputs.top_logprobs, rows, listed);
  }
  check_probabilities("probabilities", logits, outputs.probabilities);
  check_probabilities("truncated_probabilities", logits, outputs.truncated_probabilities);
  check_separate("probabilities", outputs.probabilities, "truncated_probabilities",
                 outputs.truncated_probabilities);
}

/// Checks that a step is prepared for the logits that came.
inline void check_prepared(std::optional<std::int64_t> prepared, std::int64_t rows, bool can_draw) {
  if (!prepared) {
    throw Error("prepare", std::nullopt, "not called",
                "a call before each process without requests");
  }
  if (*prepared != rows) {
    throw Error("logits.extent", 0, to_text(rows), to_text(*prepared) + " rows, as were prepared");
  }
  if (!can_draw) {
    throw Error("tokens", std::nullopt, "asked for", "uniforms that were prepared");
  }
}

template <class ExecutionSpace, LogitType Logit>
void log_sum_exp_if_asked(const ExecutionSpace& space,
                          const LogitRows<Logit, MemoryOf<ExecutionSpace>>& rows,
                          const RowMeasures<MemoryOf<ExecutionSpace>>& measures,
                          const StepOutputs<MemoryOf<ExecutionSpace>>& outputs) {
  if (outputs.log_sum_exp.data() == nullptr) return;
  log_sum_exp(space, rows, measures, outputs.log_sum_exp);
}

}  // namespace tokkos
