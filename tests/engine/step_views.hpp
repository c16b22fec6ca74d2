// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/step_outputs.hpp>

#include "engine/random_step.hpp"
#include "engine/result_bits.hpp"
#include "kernels/guarded.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tokkos::test {

inline constexpr std::int64_t step_vocabulary = 4500;

/// The logits of a step, by a seed, and everything that a step can be asked for but what it makes
/// of raw logits.
template <class Space>
struct StepViews {
  static constexpr std::int64_t vocabulary = step_vocabulary;
  static constexpr std::size_t top = 5;  // tokens listed of each row

  // Read through mirrors of theirs, which is not a change.
  mutable Guarded<float, Space> logits, probabilities, truncated, logprobs, top_logprobs,
      log_sum_exp;
  mutable Guarded<std::int32_t, Space> tokens, top_tokens, status;

  static std::vector<float> values(std::size_t rows, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    return random_logits(rows * vocabulary, random, false);
  }

  StepViews(std::size_t rows, std::uint64_t seed)
      : logits(rows, vocabulary, 3, values(rows, seed)),
        probabilities(rows, vocabulary, 5, {}),
        truncated(rows, vocabulary, 1, {}),
        logprobs(rows),
        top_logprobs(rows, top, 0, {}),
        log_sum_exp(rows),
        tokens(rows),
        top_tokens(rows, top, 0, {}),
        status(rows) {}

  StepOutputs<Space> outputs() const {
    return {.probabilities = probabilities.matrix(),
            .tokens = tokens.vector(),
            .truncated_probabilities = truncated.matrix(),
            .logprobs = logprobs.vector(),
            .top_tokens = top_tokens.matrix(),
            .top_logprobs = top_logprobs.matrix(),
            .log_sum_exp = log_sum_exp.vector(),
            .row_status = status.vector()};
  }

  Bits bits() const {
    Bits all;
    for (auto* view :
         {&logits, &probabilities, &truncated, &logprobs, &top_logprobs, &log_sum_exp}) {
      append(all, view->values());
    }
    for (auto* view : {&tokens, &top_tokens, &status}) append(all, view->values());
    return all;
  }
  bool operator==(const StepViews& other) const { return bits() == other.bits(); }
};

}  // namespace tokkos::test
