// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/step_outputs.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include "engine/check_overlaps.hpp"
#include "kernels/check_views.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tokkos {

/// Whether something besides plain probabilities is made of the logits.
template <class Space>
bool reads_logits(const StepOutputs<Space>& outputs) {
  return outputs.tokens.data() != nullptr || outputs.top_tokens.data() != nullptr ||
         outputs.truncated_probabilities.data() != nullptr;
}

/// Whether something is made of the logits as they are before their edits.
template <class Space>
bool reads_raw_logits(const StepOutputs<Space>& outputs) {
  return outputs.raw_logprobs.data() != nullptr || outputs.raw_top_tokens.data() != nullptr;
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
  check_overlap(in_place, probabilities, field);
}

/// Checks a list of the most likely tokens, which is given whole or not at all.
template <class Space>
void check_top_lists(const std::string& prefix, const Matrix<TokenId, Space>& tokens,
                     const Matrix<float, Space>& logprobs, std::int64_t rows) {
  if (is_left_out(tokens) && is_left_out(logprobs)) return;
  const auto listed = static_cast<std::int64_t>(tokens.extent(1));
  const std::string name = prefix + "top_tokens";
  require(listed <= max_top_tokens, (name + ".extent").c_str(), 1, listed, "at most 128");
  check_matrix(name.c_str(), tokens, rows, listed);
  check_matrix((prefix + "top_logprobs").c_str(), logprobs, rows, listed);
}

/// Checks one log-probability for each token that is drawn.
template <class Space>
void check_drawn(const char* field, const Vector<float, Space>& logprobs,
                 const StepOutputs<Space>& outputs, std::int64_t rows) {
  check_optional_vector(field, logprobs, rows);
  if (logprobs.data() == nullptr || outputs.tokens.data() != nullptr || rows == 0) return;
  throw Error("tokens", std::nullopt, "left out",
              std::string("given: ") + field + " are those of the tokens");
}

/// Whether the step's masks lie on the device.
template <class Space>
bool has_bitmask(const StepOutputs<Space>& outputs) {
  return outputs.bitmask.words.data() != nullptr;
}

/// Checks what a step is asked to write, and its bitmask, against its logits.
/// @param active how many tokens exist
/// @param has_hook whether something else changes logits between the edits and the draw
template <LogitType Logit, class Space>
void check_outputs(const Matrix<Logit, Space>& logits, const StepOutputs<Space>& outputs,
                   std::int64_t active, bool has_hook) {
  const auto rows = static_cast<std::int64_t>(logits.extent(0));
  check_matrix("logits", logits, rows, static_cast<std::int64_t>(logits.extent(1)));
  check_optional_vector("tokens", outputs.tokens, rows);
  check_drawn("logprobs", outputs.logprobs, outputs, rows);
  check_drawn("raw_logprobs", outputs.raw_logprobs, outputs, rows);
  if (outputs.raw_logprobs.data() != nullptr && has_hook) {
    throw Error("raw_logprobs", std::nullopt, "asked for, with a LogitHook",
                "a step without: a hook may change any logit, and no copy is kept of them all");
  }
  check_optional_vector("log_sum_exp", outputs.log_sum_exp, rows);
  check_optional_vector("row_status", outputs.row_status, rows);
  check_top_lists("", outputs.top_tokens, outputs.top_logprobs, rows);
  check_top_lists("raw_", outputs.raw_top_tokens, outputs.raw_top_logprobs, rows);
  check_probabilities("probabilities", logits, outputs.probabilities);
  check_probabilities("truncated_probabilities", logits, outputs.truncated_probabilities);
  check_bitmask(outputs.bitmask, rows, active);
  check_overlaps(logits, outputs);
}

/// Checks that a step does not ask to store masks that it only reads.
template <class Space>
void check_stored_mask(const StepOutputs<Space>& outputs, bool stores_mask) {
  if (!has_bitmask(outputs) || !stores_mask) return;
  throw Error("store_mask", std::nullopt, "set", "not set, in a step with a bitmask");
}

/// Checks that a step is prepared for the logits that came.
inline void check_prepared(std::optional<std::int64_t> prepared, std::int64_t rows) {
  if (!prepared) {
    throw Error("prepare", std::nullopt, "not called since the last step",
                "a call before each process without requests");
  }
  if (*prepared != rows) {
    throw Error("logits.extent", 0, to_text(rows), to_text(*prepared) + " rows, as were prepared");
  }
}

}  // namespace tokkos
