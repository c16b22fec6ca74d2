// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What a step costs besides time: staged bytes, allocations, and how its launches are labelled.
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/host_allocations.hpp"
#include "engine/kokkos_events.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

/// `rows` requests with `edits` biases and `edits` penalized tokens each.
OwnedStep heavy_step(int rows, std::int64_t vocabulary, int edits) {
  OwnedStep step;
  for (int i = 0; i < rows; ++i) {
    GenerationConfig config;
    config.frequency_penalty = 0.5f;
    TokenHistory history;
    for (int e = 0; e < edits; ++e) {
      config.logit_bias.emplace_back(static_cast<TokenId>((e * 977 + i) % vocabulary), 0.5);
      history.commit(static_cast<TokenId>((e * 499 + i) % vocabulary));
    }
    step.add(config, history);
  }
  return step;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("what a step stages does not grow with rows times vocabulary", "[engine]",
                        ExecutionSpaces) {
  constexpr std::int64_t vocabulary = 128256;
  constexpr int rows = 80;
  const OwnedStep step = heavy_step(rows, vocabulary, 256);
  Kokkos::View<float**, Kokkos::LayoutRight, MemoryOf<TestType>> logits(
      "tokkos::test::logits", rows, static_cast<std::size_t>(vocabulary));
  constexpr std::size_t matrix_bytes = rows * vocabulary * sizeof(float);
  const KokkosEvents events;
  forget_host_allocations();
  LogitProcessor<TestType> processor(TestType(), rows, vocabulary);
  processor.inplace_update_logits(logits, step.requests());
  CHECK(processor.staged_bytes() > rows * 256 * 2 * sizeof(TokenId));
  CHECK(processor.staged_bytes() <= (std::size_t{1} << 20));
  processor.compute_probs_from_logits(logits, step.requests(), logits);
  CHECK(processor.staged_bytes() <= (std::size_t{1} << 20));
  Kokkos::View<TokenId*, MemoryOf<TestType>> tokens("tokkos::test::tokens", rows);
  Sampler<TestType> sampler(TestType(), rows, vocabulary);
  sampler.sample_from_logits(logits, step.requests(), tokens);
  Kokkos::fence("tokkos::test::done");
  CHECK(events.largest_allocation() < matrix_bytes / 8);
  CHECK(largest_host_allocation() < matrix_bytes / 8);
}

TEMPLATE_LIST_TEST_CASE("nothing is allocated after the first step of a shape", "[engine]",
                        ExecutionSpaces) {
  const RandomStep step = make_random_step_with_histories(500, 500, 5);
  const auto rows = static_cast<std::size_t>(step.rows);
  const StepRequests requests = step.step.requests();
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> logits(rows, 500, 0, {}), probabilities(rows, 500, 0, {});
  const Guarded<float, MemorySpace> logprobs(rows);
  const Guarded<std::int32_t, MemorySpace> tokens(rows), status(rows);
  const TestType space;
  LogitProcessor<TestType> processor(space, step.rows, 500);
  Sampler<TestType> sampler(space, step.rows, 500);
  DraftVerifier<TestType> verifier(space, 40, 500);
  const std::vector<DraftTree> trees = {{{1, 2}, {-1, -1}}, {{3}, {-1}}};
  const Guarded<float, MemorySpace> model(5, 500, 0, {}), draft(5, 500, 0, {});
  const VerifyUniforms uniforms{std::vector<float>(5, 0.5f), std::vector<float>(2, 0.5f)};
  const StepOutputs<MemorySpace> outputs{.probabilities = probabilities.matrix(),
                                         .tokens = tokens.vector(),
                                         .raw_logprobs = logprobs.vector(),
                                         .row_status = status.vector()};
  const auto seed_calls = [&] {
    processor.inplace_update_logits(logits.matrix(), requests, status.vector());
    processor.compute_probs_from_logits(logits.matrix(), requests, probabilities.matrix());
  };
  const auto at_once = [&] { processor.process(logits.matrix(), requests, outputs); };
  const auto in_halves = [&] {
    processor.prepare(step.rows, requests);
    processor.process(logits.matrix(), outputs);
  };
  const auto draw_and_verify = [&] {
    sampler.sample_from_logits(logits.matrix(), requests, tokens.vector());
    sampler.sample_from_probabilities(probabilities.matrix(), std::vector<float>(rows, 0.5f),
                                      tokens.vector());
    verifier.verify(model.matrix(), draft.matrix(), trees, uniforms);
  };
  const std::function<void()> kinds[] = {seed_calls, at_once, in_halves, draw_and_verify, [&] {
                                           at_once(), seed_calls(), in_halves(), draw_and_verify();
                                         }};
  for (std::size_t kind = 0; kind < std::size(kinds); ++kind) {
    CAPTURE(kind);
    processor = LogitProcessor<TestType>(space, step.rows, 500);
    kinds[kind]();
    Kokkos::fence("tokkos::test::step");
    const KokkosEvents events;
    for (int i = 0; i < 3; ++i) kinds[kind]();
    Kokkos::fence("tokkos::test::step");
    CHECK(!events.launches().empty());
    for (const KokkosEvents::Allocation& allocation : events.allocations()) {
      FAIL_CHECK("allocated " << allocation.label << ", " << allocation.bytes << " bytes");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("every launch goes to the instance that the object was made with",
                        "[engine]", ExecutionSpaces) {
  const RandomStep step = make_random_step_with_histories(500, 500, 5);
  const auto rows = static_cast<std::size_t>(step.rows);
  const StepRequests requests = step.step.requests();
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> logits(rows, 500, 0, {}), probabilities(rows, 500, 0, {});
  const Guarded<float, MemorySpace> logprobs(rows), raw_logprobs(rows);
  const Guarded<std::int32_t, MemorySpace> tokens(rows);
  const Guarded<float, MemorySpace> model(5, 500, 0, {}), draft(5, 500, 0, {});
  const std::vector<DraftTree> trees = {{{1, 2}, {-1, -1}}, {{3}, {-1}}};
  const VerifyUniforms uniforms{std::vector<float>(5, 0.5f), std::vector<float>(2, 0.5f)};
  // On a device neither of them is the default instance, nor that of the other.
  for (const TestType& space :
       Kokkos::Experimental::partition_space(TestType(), std::vector<int>{1, 1})) {
    LogitProcessor<TestType> processor(space, step.rows, 500);
    Sampler<TestType> sampler(space, step.rows, 500);
    DraftVerifier<TestType> verifier(space, 40, 500);
    const auto check = [&](const auto& call) {
      const KokkosEvents events;
      call();
      space.fence("tokkos::test::step");
      CHECK(!events.launches().empty());
      REQUIRE(events.launch_instances().size() == events.launches().size());
      for (std::size_t i = 0; i < events.launches().size(); ++i) {
        CAPTURE(events.launches()[i]);
        CHECK(events.launch_instances()[i] == Kokkos::Tools::Experimental::device_id(space));
      }
    };
    check([&] { processor.inplace_update_logits(logits.matrix(), requests); });
    check([&] {
      processor.compute_probs_from_logits(logits.matrix(), requests, probabilities.matrix());
    });
    check([&] { sampler.sample_from_logits(logits.matrix(), requests, tokens.vector()); });
    check([&] {
      sampler.sample_from_probabilities(probabilities.matrix(), std::vector<float>(rows, 0.5f),
                                        tokens.vector());
    });
    check([&] {
      processor.prepare(step.rows, requests);
      processor.process(logits.matrix(), {.probabilities = probabilities.matrix(),
                                          .tokens = tokens.vector(),
                                          .logprobs = logprobs.vector(),
                                          .raw_logprobs = raw_logprobs.vector()});
    });
    check([&] { verifier.verify(model.matrix(), draft.matrix(), trees, uniforms); });
    check([&] { verifier.template verify_greedy<float>(model.matrix(), trees); });
  }
}

TEMPLATE_LIST_TEST_CASE("every launch, allocation and region is labelled", "[engine]",
                        ExecutionSpaces) {
  const RandomStep step = make_random_step_with_histories(500, 500, 5);
  const auto rows = static_cast<std::size_t>(step.rows);
  using MemorySpace = MemoryOf<TestType>;
  const Guarded<float, MemorySpace> logits(rows, 500, 0, {});
  const Guarded<std::int32_t, MemorySpace> tokens(rows);
  LogitProcessor<TestType> processor(TestType(), step.rows, 500);
  Sampler<TestType> sampler(TestType(), step.rows, 500);
  const KokkosEvents events;
  processor.inplace_update_logits(logits.matrix(), step.step.requests());
  sampler.sample_from_logits(logits.matrix(), step.step.requests(), tokens.vector());
  processor.compute_probs_from_logits(logits.matrix(), step.step.requests(), logits.matrix());
  Kokkos::fence("tokkos::test::step");
  CHECK(events.launches().size() >= 4);
  CHECK(!events.regions().empty());
  for (const std::string& label : events.launches()) {
    CAPTURE(label);
    CHECK(label.starts_with("tokkos::"));
  }
  for (const KokkosEvents::Allocation& allocation : events.allocations()) {
    CAPTURE(allocation.label);
    // The scratch memory of teams is Kokkos's own.
    const bool ours = allocation.label.starts_with("tokkos::");
    CHECK((ours || allocation.label.ends_with("::scratch_mem")));
  }
  for (const std::string& region : events.regions()) {
    CAPTURE(region);
    CHECK(region.starts_with("tokkos::"));
  }
}

}  // namespace tokkos::test
