// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The stages of a step are Kokkos profiling regions, and all that it launches lies in them.
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

using Lines = std::vector<std::string>;

/// The regions of flattening a step.
const Lines flattening = {"tokkos::update logits", "tokkos::apply penalty",
                          "tokkos::apply logit bias", "tokkos::apply logit mask"};

Lines joined(Lines first, const Lines& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("each stage of a step is a Kokkos region of the same name", "[engine]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  RandomStep step = make_random_step_with_histories(64, 64, 5);
  step.step.configs[0].temperature = 1.0f;
  step.step.configs[0].top_p = 0.5f;
  const StepRequests requests = step.step.requests();
  const auto rows = static_cast<std::size_t>(step.rows);
  const Guarded<float, MemorySpace> logits(rows, 64, 0, {}), probs(rows, 64, 0, {});
  const Guarded<TokenId, MemorySpace> tokens(rows);
  LogitProcessor<TestType> processor(TestType(), step.rows, 64);
  Sampler<TestType> sampler(TestType(), step.rows, 64);
  DraftVerifier<TestType> verifier(TestType(), step.rows, 64);
  const auto regions = [](const auto& call) {
    const KokkosEvents events;
    call();
    return events.regions();
  };
  CHECK(regions([&] { processor.inplace_update_logits(logits.matrix(), requests); }) ==
        joined(flattening,
               {"tokkos::apply logit bias", "tokkos::apply penalty", "tokkos::apply logit mask"}));
  CHECK(regions([&] {
          processor.compute_probs_from_logits(logits.matrix(), requests, probs.matrix());
        }) == Lines{"tokkos::softmax"});
  CHECK(regions([&] { sampler.sample_from_logits(logits.matrix(), requests, tokens.vector()); }) ==
        Lines{"tokkos::sampling", "tokkos::softmax", "tokkos::renormalization by top p"});
  CHECK(regions([&] {
          processor.process(logits.matrix(), requests,
                            {.probabilities = probs.matrix(), .tokens = tokens.vector()},
                            {.store_mask = true});
        }) == joined(flattening,
                     {"tokkos::update logits", "tokkos::apply logit bias", "tokkos::apply penalty",
                      "tokkos::apply logit mask", "tokkos::softmax",
                      "tokkos::renormalization by top p", "tokkos::sampling", "tokkos::softmax"}));
  CHECK(regions([&] {
          verifier.verify(probs.matrix(), probs.matrix(), std::vector<DraftTree>(rows),
                          {std::vector<float>(rows, 0.5f), std::vector<float>(rows, 0.5f)});
        }) == Lines{"tokkos::draft verification"});
}

TEMPLATE_LIST_TEST_CASE("every launch of a step belongs to a stage", "[engine]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  RandomStep step = make_random_step_with_histories(64, 64, 5);
  step.step.configs[0].temperature = 1.0f;
  step.step.configs[0].top_p = 0.5f;
  const auto rows = static_cast<std::size_t>(step.rows);
  const Guarded<float, MemorySpace> logits(rows, 64, 0, {}), probs(rows, 64, 0, {}),
      truncated(rows, 64, 0, {}), values(rows, 3, 0, {}), raw_values(rows, 3, 0, {});
  const Guarded<TokenId, MemorySpace> tokens(rows), top(rows, 3, 0, {}), raw_top(rows, 3, 0, {});
  const Guarded<float, MemorySpace> logprobs(rows), raw_logprobs(rows), log_sum_exp(rows);
  const StepOutputs<MemorySpace> all = {.probabilities = probs.matrix(),
                                        .tokens = tokens.vector(),
                                        .truncated_probabilities = truncated.matrix(),
                                        .logprobs = logprobs.vector(),
                                        .top_tokens = top.matrix(),
                                        .top_logprobs = values.matrix(),
                                        .raw_logprobs = raw_logprobs.vector(),
                                        .raw_top_tokens = raw_top.matrix(),
                                        .raw_top_logprobs = raw_values.matrix(),
                                        .log_sum_exp = log_sum_exp.vector()};
  StepOutputs<MemorySpace> softmax, lists, tokens_alone;
  softmax.probabilities = all.probabilities, softmax.log_sum_exp = all.log_sum_exp;
  lists.top_tokens = all.top_tokens, lists.top_logprobs = all.top_logprobs;
  tokens_alone.tokens = all.tokens;
  LogitProcessor<TestType> processor(TestType(), step.rows, 64);
  for (const auto& outputs : {all, softmax, lists, tokens_alone}) {
    const KokkosEvents events;
    processor.process(logits.matrix(), step.step.requests(), outputs, {.store_mask = true});
    CHECK(events.launches().size() >= 3);
    CHECK(events.launches_outside_regions() == Lines{});
  }
}

}  // namespace tokkos::test
