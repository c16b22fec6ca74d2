// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/step_outputs.hpp>

#include "kernels/named_range.hpp"

#include <array>

namespace tokkos {

/// Checks that a step's outputs lie apart from what is read and from each other, and the logits,
/// which are edited, from the masks. Probabilities may lie in the logits; that is checked where
/// they are.
template <LogitType Logit, class Space>
void check_overlaps(const Matrix<Logit, Space>& logits, const StepOutputs<Space>& outputs) {
  const std::array apart{NamedRange::of("tokens", outputs.tokens),
                         NamedRange::of("logprobs", outputs.logprobs),
                         NamedRange::of("top_tokens", outputs.top_tokens),
                         NamedRange::of("top_logprobs", outputs.top_logprobs),
                         NamedRange::of("raw_logprobs", outputs.raw_logprobs),
                         NamedRange::of("raw_top_tokens", outputs.raw_top_tokens),
                         NamedRange::of("raw_top_logprobs", outputs.raw_top_logprobs),
                         NamedRange::of("log_sum_exp", outputs.log_sum_exp),
                         NamedRange::of("row_status", outputs.row_status)};
  const std::array whole{NamedRange::of("the logits", logits)};
  const std::array probabilities{
      NamedRange::of("probabilities", outputs.probabilities),
      NamedRange::of("truncated_probabilities", outputs.truncated_probabilities)};
  const std::array masks{NamedRange::of("bitmask", outputs.bitmask.words),
                         NamedRange::of("bitmask.row_index", outputs.bitmask.row_index)};
  check_apart(std::array{NamedRange::of("logits", logits)}, {masks});
  check_apart(probabilities, {masks});
  check_apart(apart, {whole, probabilities, masks});
}

}  // namespace tokkos
