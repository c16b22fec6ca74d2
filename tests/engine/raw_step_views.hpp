// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/step_outputs.hpp>

#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tokkos::test {

/// Tokens listed of each row.
inline constexpr std::size_t raw_top = 6;

/// The Views of a step that is asked for raw log-probabilities.
template <class Backend>
struct RawStepViews {
  using Logit = typename Backend::logit;
  using Space = typename Backend::memory_space;
  std::size_t vocabulary;
  Guarded<Logit, Space> logits;
  Guarded<float, Space> probabilities;
  Guarded<TokenId, Space> tokens;
  Guarded<float, Space> logprobs, raw_logprobs;
  Guarded<TokenId, Space> raw_top_tokens;
  Guarded<float, Space> raw_top_logprobs;
  Guarded<std::int32_t, Space> status;

  RawStepViews(std::size_t rows, const std::vector<Logit>& values)
      : vocabulary(values.size() / rows),
        logits(rows, vocabulary, 3, values),
        probabilities(rows, vocabulary, 5, {}),
        tokens(rows),
        logprobs(rows),
        raw_logprobs(rows),
        raw_top_tokens(rows, raw_top, 2, {}),
        raw_top_logprobs(rows, raw_top, 1, {}),
        status(rows) {}

  StepOutputs<Space> plain() const {
    return {.probabilities = probabilities.matrix(),
            .tokens = tokens.vector(),
            .logprobs = logprobs.vector(),
            .row_status = status.vector()};
  }
  StepOutputs<Space> with_raw() const {
    StepOutputs<Space> outputs = plain();
    outputs.raw_logprobs = raw_logprobs.vector();
    outputs.raw_top_tokens = raw_top_tokens.matrix();
    outputs.raw_top_logprobs = raw_top_logprobs.matrix();
    return outputs;
  }
  bool intact() {
    raw_logprobs.values(), raw_top_tokens.values(), raw_top_logprobs.values();
    return raw_logprobs.guards_intact() && raw_top_tokens.guards_intact() &&
           raw_top_logprobs.guards_intact();
  }
};

template <class Logit>
std::vector<Logit> stored_logits(std::size_t count, std::uint64_t seed, bool special) {
  std::mt19937_64 random(seed);
  std::vector<Logit> result;
  for (const float x : random_logits(count, random, special)) result.push_back(narrow<Logit>(x));
  return result;
}

/// Five rows of 8 tokens that draw biased and penalized tokens, and tokens that are both.
inline OwnedStep edited_tokens() {
  TokenHistory history({0});
  for (const TokenId token : {1, 2, 2}) history.commit(token);
  OwnedStep step;
  step.add({.temperature = 0.0f, .repetition_penalty = 2.0f, .logit_bias = {{1, 50.0}}}, history);
  step.add({.temperature = 0.7f, .presence_penalty = -40.0f, .logit_bias = {{1, -1.0}}}, history);
  step.add({.temperature = 1.5f, .logit_bias = {{3, 30.0}, {3, 30.0}}}, history);
  step.add({.temperature = 1.0f, .allowed_token_ids = {4}}, history);
  step.add({.temperature = 0.0f, .banned_token_ids = {1, 2, 3, 5, 6, 7}}, history);
  return step;
}

}  // namespace tokkos::test
