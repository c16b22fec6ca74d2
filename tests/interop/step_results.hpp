// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/tokkos.h>
#include <tokkos/engine/step_outputs.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include "engine/random_step.hpp"
#include "engine/result_bits.hpp"
#include "interop/c_objects.hpp"
#include "kernels/guarded.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace tokkos::test {

/// Outputs of C and the arrays that they point to.
class OutputsOfC {
 public:
  const tokkos_array* add(const tokkos_array& array) { return &m_arrays.emplace_back(array); }
  tokkos_step_outputs& outputs() { return m_outputs; }
  const tokkos_step_outputs* get() const { return &m_outputs; }

 private:
  std::deque<tokkos_array> m_arrays;
  tokkos_step_outputs m_outputs = tokkos_step_outputs_default();
};

/// The logits of a step, by a seed, in rows that are padded, and all that a step can write.
template <class Space, LogitType Logit>
struct StepResults {
  static constexpr std::size_t top = 5;

  // Read through mirrors of theirs, which is not a change.
  mutable Guarded<Logit, Space> logits;
  mutable Guarded<float, Space> probabilities, truncated, logprobs, top_logprobs, raw_logprobs,
      raw_top_logprobs, log_sum_exp;
  mutable Guarded<std::int32_t, Space> tokens, top_tokens, raw_top_tokens, status;

  static std::vector<Logit> values(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Logit> stored;
    for (const float value : random_logits(count, random, false)) {
      stored.push_back(narrow<Logit>(value));
    }
    return stored;
  }

  StepResults(std::size_t rows, std::size_t vocabulary, std::uint64_t seed)
      : logits(rows, vocabulary, 3, values(rows * vocabulary, seed)),
        probabilities(rows, vocabulary, 5, {}),
        truncated(rows, vocabulary, 1, {}),
        logprobs(rows),
        top_logprobs(rows, top, 0, {}),
        raw_logprobs(rows),
        raw_top_logprobs(rows, top, 2, {}),
        log_sum_exp(rows),
        tokens(rows),
        top_tokens(rows, top, 0, {}),
        raw_top_tokens(rows, top, 0, {}),
        status(rows) {}

  StepOutputs<Space> outputs() const {
    return {.probabilities = probabilities.matrix(),
            .tokens = tokens.vector(),
            .truncated_probabilities = truncated.matrix(),
            .logprobs = logprobs.vector(),
            .top_tokens = top_tokens.matrix(),
            .top_logprobs = top_logprobs.matrix(),
            .raw_logprobs = raw_logprobs.vector(),
            .raw_top_tokens = raw_top_tokens.matrix(),
            .raw_top_logprobs = raw_top_logprobs.matrix(),
            .log_sum_exp = log_sum_exp.vector(),
            .row_status = status.vector()};
  }

  OutputsOfC outputs_of_c() const {
    OutputsOfC made;
    tokkos_step_outputs& outputs = made.outputs();
    outputs.probabilities = made.add(array_of(probabilities.matrix()));
    outputs.tokens = made.add(array_of(tokens.vector()));
    outputs.truncated_probabilities = made.add(array_of(truncated.matrix()));
    outputs.logprobs = made.add(array_of(logprobs.vector()));
    outputs.top_tokens = made.add(array_of(top_tokens.matrix()));
    outputs.top_logprobs = made.add(array_of(top_logprobs.matrix()));
    outputs.raw_logprobs = made.add(array_of(raw_logprobs.vector()));
    outputs.raw_top_tokens = made.add(array_of(raw_top_tokens.matrix()));
    outputs.raw_top_logprobs = made.add(array_of(raw_top_logprobs.matrix()));
    outputs.log_sum_exp = made.add(array_of(log_sum_exp.vector()));
    outputs.row_status = made.add(array_of(status.vector()));
    return made;
  }

  Bits bits() const {
    Bits all;
    for (const Logit value : logits.values()) {
      const float read = widen(value);
      all.push_back(std::bit_cast<std::uint32_t>(read));
    }
    for (auto* view : {&probabilities, &truncated, &logprobs, &top_logprobs, &raw_logprobs,
                       &raw_top_logprobs, &log_sum_exp}) {
      append(all, view->values());
    }
    for (auto* view : {&tokens, &top_tokens, &raw_top_tokens, &status}) append(all, view->values());
    return all;
  }
};

}  // namespace tokkos::test
