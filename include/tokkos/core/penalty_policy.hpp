// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tokkos {

/// Which tokens are penalized, and in which order. With presence p, frequency f and repetition r, a
/// logit x becomes the following, in float32 and in the order written; once a step overflows, the
/// later ones leave it there (the edit ends just inside the range).
enum class PenaltyPolicy : std::int32_t {
  /// Generated tokens, c times each: x - (p + c * f), then that times r if it is negative, else
  /// divided by it. The seed's.
  seed = 0,
  /// Tokens of the prompt or generated, once: x / r if x > 0, else x * r. Then generated ones:
  /// x - f * c, then x - p. vLLM's.
  openai = 1,
  /// Tokens of the prompt or generated, once: x * r if x < 0, else x / r; p and f are not used.
  hugging_face = 2,
  /// The last penalty_window tokens of the prompt and the generated, where a token stands c times:
  /// x * r if x <= 0, else x / r, then x - (c * f + p).
  llama_cpp = 3
};

/// Name of a policy; null for a number that is none.
constexpr const char* penalty_policy_name(PenaltyPolicy policy) {
  switch (policy) {
    case PenaltyPolicy::seed:
      return "seed";
    case PenaltyPolicy::openai:
      return "openai";
    case PenaltyPolicy::hugging_face:
      return "hugging_face";
    case PenaltyPolicy::llama_cpp:
      return "llama_cpp";
  }
  return nullptr;
}

/// All policies, in the order of their numbers.
inline constexpr PenaltyPolicy penalty_policies[] = {PenaltyPolicy::seed, PenaltyPolicy::openai,
                                                     PenaltyPolicy::hugging_face,
                                                     PenaltyPolicy::llama_cpp};

/// The policy of this name, if there is one.
constexpr std::optional<PenaltyPolicy> find_penalty_policy(std::string_view name) {
  for (const PenaltyPolicy policy : penalty_policies) {
    if (name == penalty_policy_name(policy)) return policy;
  }
  return std::nullopt;
}

/// Whether tokens of the prompt that were not generated are penalized too, with count 0.
constexpr bool penalizes_prompt(PenaltyPolicy policy) {
  return policy == PenaltyPolicy::openai || policy == PenaltyPolicy::hugging_face;
}

}  // namespace tokkos
