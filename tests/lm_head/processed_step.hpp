// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/engine/logit_processor.hpp>

#include "engine/random_step.hpp"
#include "engine/result_bits.hpp"
#include "kernels/guarded.hpp"
#include "lm_head/head_on_device.hpp"

#include <cstddef>
#include <cstdint>

namespace tokkos::test {

// A step of requests through an LM head's processor, and by whole rows of logits.

inline constexpr std::int64_t head_vocabulary = 9000;
inline constexpr std::int64_t head_size = 12;
inline constexpr std::size_t head_top = 4;

inline HeadCase head_of(const RandomStep& step,
                        LmHeadProduct product = LmHeadProduct::fixed_order) {
  HeadCase head = plain_case(step.rows, head_vocabulary, head_size, 71);
  head.options.product = product;
  head.options.block_tokens = 4096;
  head.options.active_vocabulary = step.active;
  head.options.soft_cap = 9.0f;
  return head;
}

/// What a step writes, with guards around.
template <class Space>
struct HeadViews {
  mutable Guarded<TokenId, Space> tokens, top_tokens;
  mutable Guarded<float, Space> logprobs, top_logprobs, log_sum_exp;
  mutable Guarded<std::int32_t, Space> status;

  explicit HeadViews(std::size_t rows)
      : tokens(rows),
        top_tokens(rows, head_top, 3, {}),
        logprobs(rows),
        top_logprobs(rows, head_top, 1, {}),
        log_sum_exp(rows),
        status(rows) {}

  LmHeadOutputs<Space> of_head() const {
    return {.tokens = tokens.vector(),
            .token_logprobs = logprobs.vector(),
            .log_sum_exp = log_sum_exp.vector(),
            .top_tokens = top_tokens.matrix(),
            .top_logprobs = top_logprobs.matrix(),
            .row_status = status.vector()};
  }
  StepOutputs<Space> of_rows() const {
    return {.tokens = tokens.vector(),
            .logprobs = logprobs.vector(),
            .top_tokens = top_tokens.matrix(),
            .top_logprobs = top_logprobs.matrix(),
            .log_sum_exp = log_sum_exp.vector(),
            .row_status = status.vector()};
  }
  Bits bits() const {
    Bits all;
    append(all, tokens.values());
    append(all, top_tokens.values());
    for (auto* view : {&logprobs, &top_logprobs, &log_sum_exp}) append(all, view->values());
    append(all, status.values());
    return all;
  }
  bool intact() const {
    return tokens.guards_intact() && top_tokens.guards_intact() && logprobs.guards_intact() &&
           top_logprobs.guards_intact() && log_sum_exp.guards_intact() && status.guards_intact();
  }
};

/// By whole rows of logits.
template <class OnSpace>
Bits by_rows(const DeviceHead<OnSpace>& device, const RandomStep& step,
             const StepRequests& requests, const StepOptions& options = {}) {
  using Space = typename OnSpace::execution_space;
  using Memory = typename OnSpace::memory_space;
  const HeadViews<Memory> results(static_cast<std::size_t>(step.rows));
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> logits(
      "logits", static_cast<std::size_t>(step.rows), static_cast<std::size_t>(head_vocabulary));
  device.head().logits(device.hidden(), logits);
  LogitProcessor<Space> processor(Space(), step.rows, head_vocabulary, step.active);
  processor.process(logits, requests, results.of_rows(), options);
  Space().fence("tokkos::test::by_rows");
  return results.bits();
}

}  // namespace tokkos::test
