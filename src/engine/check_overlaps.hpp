// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>
#include <tokkos/engine/step_outputs.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace tokkos {

/// The memory between the first and the last value of a View; null where it has none.
struct NamedRange {
  const char* name;
  const void* begin = nullptr;
  const void* end = nullptr;

  template <class T, class Space>
  static NamedRange of(const char* name, const Vector<T, Space>& view) {
    if (view.data() == nullptr || view.extent(0) == 0) return {name};
    return {name, view.data(), view.data() + (view.extent(0) - 1) * view.stride(0) + 1};
  }
  template <class T, class Space>
  static NamedRange of(const char* name, const Matrix<T, Space>& view) {
    if (view.data() == nullptr || view.extent(0) == 0) return {name};
    return {name, view.data(),
            view.data() + (view.extent(0) - 1) * view.stride(0) + view.extent(1)};
  }

  bool meets(const NamedRange& other) const {
    const std::less<const void*> before;
    return before(begin, other.end) && before(other.begin, end);
  }
};

/// Checks that a step's outputs lie apart from the logits and from each other. Probabilities may
/// lie in the logits; that is checked where they are.
template <LogitType Logit, class Space>
void check_overlaps(const Matrix<Logit, Space>& logits, const StepOutputs<Space>& outputs) {
  constexpr std::size_t in_place = 2;  // outputs that may be the logits come first
  const std::array ranges{
      NamedRange::of("probabilities", outputs.probabilities),
      NamedRange::of("truncated_probabilities", outputs.truncated_probabilities),
      NamedRange::of("tokens", outputs.tokens),
      NamedRange::of("logprobs", outputs.logprobs),
      NamedRange::of("top_tokens", outputs.top_tokens),
      NamedRange::of("top_logprobs", outputs.top_logprobs),
      NamedRange::of("raw_logprobs", outputs.raw_logprobs),
      NamedRange::of("raw_top_tokens", outputs.raw_top_tokens),
      NamedRange::of("raw_top_logprobs", outputs.raw_top_logprobs),
      NamedRange::of("log_sum_exp", outputs.log_sum_exp),
      NamedRange::of("row_status", outputs.row_status)};
  const auto refuse = [](const NamedRange& range, const char* other) {
    throw Error(range.name, std::nullopt, std::string("a View that overlaps ") + other,
                "separate memory");
  };
  const NamedRange whole = NamedRange::of("logits", logits);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i >= in_place && ranges[i].meets(whole)) refuse(ranges[i], "the logits");
    for (std::size_t j = 0; j < i; ++j) {
      if (ranges[i].meets(ranges[j])) refuse(ranges[j], ranges[i].name);
    }
  }
}

}  // namespace tokkos
