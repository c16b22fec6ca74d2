// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/penalty_policies.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace tokkos::test {

namespace {

float product(float a, float b) {
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b));
}
float quotient(float a, float b) {
  return static_cast<float>(static_cast<double>(a) / static_cast<double>(b));
}
float sum(float a, float b) {
  return static_cast<float>(static_cast<double>(a) + static_cast<double>(b));
}
float difference(float a, float b) {
  return static_cast<float>(static_cast<double>(a) - static_cast<double>(b));
}

float by_seed(float x, const ReferencePenalties& p, std::int32_t count) {
  x = difference(x, sum(p.presence, product(static_cast<float>(count), p.frequency)));
  return x < 0 ? product(x, p.repetition) : quotient(x, p.repetition);
}

float by_openai(float x, const ReferencePenalties& p, std::int32_t count) {
  x = x > 0 ? quotient(x, p.repetition) : product(x, p.repetition);
  if (count == 0 || std::isinf(x)) return x;
  x = difference(x, product(p.frequency, static_cast<float>(count)));
  return difference(x, p.presence);
}

float by_hugging_face(float x, const ReferencePenalties& p) {
  return x < 0 ? product(x, p.repetition) : quotient(x, p.repetition);
}

float by_llama_cpp(float x, const ReferencePenalties& p, std::int32_t count) {
  x = x <= 0 ? product(x, p.repetition) : quotient(x, p.repetition);
  if (std::isinf(x)) return x;
  return difference(x, sum(product(static_cast<float>(count), p.frequency), p.presence));
}

float by_policy(float x, const ReferencePenalties& p, const ReferenceOccurrences& token) {
  const bool is_seen = token.in_prompt || token.in_output > 0;
  switch (p.policy) {
    case ReferencePolicy::seed:
      return token.in_output > 0 ? by_seed(x, p, token.in_output) : x;
    case ReferencePolicy::openai:
      return is_seen ? by_openai(x, p, token.in_output) : x;
    case ReferencePolicy::hugging_face:
      return is_seen ? by_hugging_face(x, p) : x;
    case ReferencePolicy::llama_cpp:
      return token.in_window > 0 ? by_llama_cpp(x, p, token.in_window) : x;
  }
  return x;
}

}  // namespace

float penalized_logit(float logit, const ReferencePenalties& penalties,
                      const ReferenceOccurrences& token) {
  if (!std::isfinite(logit) || logit <= -FLT_MAX) return logit;
  if (penalties.presence == 0 && penalties.frequency == 0 && penalties.repetition == 1) {
    return logit;
  }
  const float x = by_policy(logit, penalties, token);
  return std::isinf(x) ? std::copysign(0x1.fffffcp127f, x) : x;
}

std::vector<float> penalized_row(std::vector<float> logits, const ReferencePenalties& penalties,
                                 std::span<const std::int32_t> prompt,
                                 std::span<const std::int32_t> output) {
  std::vector<std::int32_t> all(prompt.begin(), prompt.end());
  all.insert(all.end(), output.begin(), output.end());
  const auto length = static_cast<std::int64_t>(all.size());
  const std::int64_t window = penalties.window < 0 ? length : std::min(penalties.window, length);
  for (std::size_t v = 0; v < logits.size(); ++v) {
    const auto token = static_cast<std::int32_t>(v);
    const ReferenceOccurrences occurrences{
        std::ranges::count(prompt, token) > 0,
        static_cast<std::int32_t>(std::ranges::count(output, token)),
        static_cast<std::int32_t>(std::count(all.end() - window, all.end(), token))};
    logits[v] = penalized_logit(logits[v], penalties, occurrences);
  }
  return logits;
}

}  // namespace tokkos::test
