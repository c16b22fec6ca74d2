// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/step_outputs.hpp>

#include "fuzz/step_input.hpp"
#include "kernels/guarded.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace tokkos::test {

inline std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float x : values) bits.push_back(std::bit_cast<std::uint32_t>(x));
  return bits;
}

/// What a step wrote, each [rows, ...].
struct StepResult {
  bool threw = false;
  std::vector<float> logits, probabilities, truncated;
  std::vector<float> logprobs, top_logprobs, raw_logprobs, raw_top_logprobs, log_sum_exp;
  std::vector<TokenId> tokens, top_tokens, raw_top_tokens;
  std::vector<std::int32_t> status;

  /// Everything but the logits.
  std::vector<const std::vector<float>*> numbers() const {
    return {&probabilities, &truncated,        &logprobs,   &top_logprobs,
            &raw_logprobs,  &raw_top_logprobs, &log_sum_exp};
  }
  /// See above.
  std::vector<const std::vector<std::int32_t>*> integers() const {
    return {&tokens, &top_tokens, &raw_top_tokens, &status};
  }

  /// To the bit.
  bool operator==(const StepResult& other) const {
    if (threw != other.threw || bits_of(logits) != bits_of(other.logits)) return false;
    const auto mine = numbers(), others = other.numbers();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (bits_of(*mine[i]) != bits_of(*others[i])) return false;
    }
    return tokens == other.tokens && top_tokens == other.top_tokens &&
           raw_top_tokens == other.raw_top_tokens && status == other.status;
  }
};

/// Outputs of a step, each between guards.
class GuardedOutputs {
 public:
  GuardedOutputs(std::size_t rows, std::size_t width, const FuzzStep& fuzz)
      : m_fuzz(fuzz),
        m_probabilities(rows, width, 5, {}),
        m_truncated(rows, width, 1, {}),
        m_top_logprobs(rows, fuzz.listed, 2, {}),
        m_raw_top_logprobs(rows, fuzz.listed, 0, {}),
        m_logprobs(rows),
        m_raw_logprobs(rows),
        m_log_sum_exp(rows),
        m_top_tokens(rows, fuzz.listed, 1, {}),
        m_raw_top_tokens(rows, fuzz.listed, 0, {}),
        m_tokens(rows),
        m_status(rows) {}

  /// The ones that are asked for.
  StepOutputs<Kokkos::HostSpace> views() {
    StepOutputs<Kokkos::HostSpace> outputs;
    outputs.probabilities = m_probabilities.matrix();
    outputs.row_status = m_status.vector();
    if (m_fuzz.draws) outputs.tokens = m_tokens.vector();
    if (m_fuzz.truncates) outputs.truncated_probabilities = m_truncated.matrix();
    if (m_fuzz.scores) outputs.log_sum_exp = m_log_sum_exp.vector();
    if (m_fuzz.scores && m_fuzz.draws) {
      outputs.logprobs = m_logprobs.vector();
      outputs.raw_logprobs = m_raw_logprobs.vector();
    }
    if (m_fuzz.listed > 0) {
      outputs.top_tokens = m_top_tokens.matrix();
      outputs.top_logprobs = m_top_logprobs.matrix();
      outputs.raw_top_tokens = m_raw_top_tokens.matrix();
      outputs.raw_top_logprobs = m_raw_top_logprobs.matrix();
    }
    return outputs;
  }

  /// What was written, zeros where nothing was.
  StepResult values() {
    StepResult result;
    result.probabilities = m_probabilities.values();
    result.truncated = m_truncated.values();
    result.top_logprobs = m_top_logprobs.values();
    result.raw_top_logprobs = m_raw_top_logprobs.values();
    result.logprobs = m_logprobs.values();
    result.raw_logprobs = m_raw_logprobs.values();
    result.log_sum_exp = m_log_sum_exp.values();
    result.top_tokens = m_top_tokens.values();
    result.raw_top_tokens = m_raw_top_tokens.values();
    result.tokens = m_tokens.values();
    result.status = m_status.values();
    return result;
  }

  bool guards_intact() {
    const auto intact = [](auto&... arrays) { return (arrays.guards_intact() && ...); };
    return intact(m_probabilities, m_truncated, m_top_logprobs, m_raw_top_logprobs, m_logprobs,
                  m_raw_logprobs, m_log_sum_exp, m_top_tokens, m_raw_top_tokens, m_tokens,
                  m_status);
  }

 private:
  template <class T>
  using Array = Guarded<T, Kokkos::HostSpace>;

  const FuzzStep& m_fuzz;
  Array<float> m_probabilities, m_truncated, m_top_logprobs, m_raw_top_logprobs;
  Array<float> m_logprobs, m_raw_logprobs, m_log_sum_exp;
  Array<TokenId> m_top_tokens, m_raw_top_tokens, m_tokens;
  Array<std::int32_t> m_status;
};

/// Compares one row of a step that was not refused with a plain reference.
void check_row(const FuzzStep& fuzz, const StepResult& result, std::size_t request,
               std::size_t row_of_request, std::size_t row);

}  // namespace tokkos::test
