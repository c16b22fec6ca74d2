// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tokkos::test {

/// The systems whose penalties are known by name.
enum class ReferencePolicy { seed, openai, hugging_face, llama_cpp };

struct ReferencePenalties {
  ReferencePolicy policy = ReferencePolicy::seed;
  float presence = 0.0f;
  float frequency = 0.0f;
  float repetition = 1.0f;
  std::int64_t window = 64;  ///< of llama_cpp; -1: everything
};

/// Where a token stands before the row's next one.
struct ReferenceOccurrences {
  bool in_prompt = false;
  std::int32_t in_output = 0;
  std::int32_t in_window = 0;  ///< of prompt and output together
};

/// A float32 logit after a policy's penalties, by its definition. Every operation is done in double
/// and rounded to float32 once, which gives the correctly rounded float32 operation.
float penalized_logit(float logit, const ReferencePenalties& penalties,
                      const ReferenceOccurrences& token);

/// Every logit of a row after the penalties, token by token, for what came before it.
std::vector<float> penalized_row(std::vector<float> logits, const ReferencePenalties& penalties,
                                 std::span<const std::int32_t> prompt,
                                 std::span<const std::int32_t> output);

}  // namespace tokkos::test
