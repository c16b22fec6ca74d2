// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What C makes of a step is what C++ makes of it, bit for bit.
#include <tokkos/tokkos.h>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <memory>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "interop/c_step.hpp"
#include "interop/step_results.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 4500;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a step of C has the bits of the same step of C++, of every type",
                        "[interop]", Backends) {
  using Space = typename TestType::execution_space;
  using Results = StepResults<typename TestType::memory_space, typename TestType::logit>;
  const std::uint64_t seed = GENERATE(range(1, 6));
  const auto given = make_truncated_step(vocabulary, seed);
  const auto rows = static_cast<std::size_t>(given->rows);
  const StepOfC step(given->step);
  const Space space;
  LogitProcessor<Space> expected_processor(space, 64, vocabulary);
  const Results expected(rows, vocabulary, seed);
  expected_processor.process(expected.logits.matrix(), given->step.requests(), expected.outputs());
  space.fence("tokkos::test::process");

  const Context context = context_on<Space>();
  const Processor processor = processor_on(context, limits_of(64, vocabulary));
  const Results at_once(rows, vocabulary, seed), in_halves(rows, vocabulary, seed);
  const auto outputs = at_once.outputs_of_c();
  const tokkos_array logits = array_of(at_once.logits.matrix());
  check_ok(tokkos_processor_process(processor.get(), &logits, step.get(), outputs.get(), nullptr,
                                    nullptr));
  const auto half_outputs = in_halves.outputs_of_c();
  const tokkos_array half_logits = array_of(in_halves.logits.matrix());
  check_ok(tokkos_processor_prepare(processor.get(), given->rows, step.get(), nullptr));
  check_ok(tokkos_processor_process_prepared(processor.get(), &half_logits, half_outputs.get(),
                                             nullptr));
  check_ok(tokkos_context_fence(context.get()));
  CHECK((at_once.bits() == expected.bits()));
  CHECK((in_halves.bits() == expected.bits()));
  CHECK(Snapshot(*given).misuses == 0);
}

TEMPLATE_LIST_TEST_CASE("the seed's two calls and a draw have the bits of C++", "[interop]",
                        Backends) {
  using Space = typename TestType::execution_space;
  using Results = StepResults<typename TestType::memory_space, typename TestType::logit>;
  const auto given = make_truncated_step(vocabulary, 11);
  const auto rows = static_cast<std::size_t>(given->rows);
  const StepOfC step(given->step);
  const Space space;
  const Results expected(rows, vocabulary, 11), results(rows, vocabulary, 11);
  LogitProcessor<Space> expected_processor(space, 64, vocabulary, 4400);
  Sampler<Space> expected_sampler(space, 64, vocabulary, 4400);
  const StepRequests requests = given->step.requests();
  expected_processor.inplace_update_logits(expected.logits.matrix(), requests,
                                           expected.status.vector());
  expected_sampler.sample_from_logits(expected.logits.matrix(), requests, expected.tokens.vector(),
                                      {}, expected.status.vector(), GreedyTies::lowest_id);
  expected_processor.compute_probs_from_logits(expected.logits.matrix(), requests,
                                               expected.probabilities.matrix(),
                                               expected.status.vector());

  const Context context = context_on<Space>();
  const tokkos_limits limits = limits_of(64, vocabulary, 4400);
  const Processor processor = processor_on(context, limits);
  const SamplerOfC sampler = sampler_on(context, limits);
  tokkos_array logits = array_of(results.logits.matrix());
  const tokkos_array status = array_of(results.status.vector());
  const tokkos_array tokens = array_of(results.tokens.vector());
  const tokkos_array probabilities = array_of(results.probabilities.matrix());
  tokkos_step_options options = tokkos_step_options_default();
  options.ties = TOKKOS_TIES_LOWEST_ID;
  check_ok(tokkos_processor_update_logits(processor.get(), &logits, step.get(), &status));
  logits.flags = TOKKOS_ARRAY_READ_ONLY;  // from here on they are only read
  check_ok(
      tokkos_sampler_sample_logits(sampler.get(), &logits, step.get(), &tokens, &options, &status));
  check_ok(tokkos_processor_compute_probabilities(processor.get(), &logits, step.get(),
                                                  &probabilities, &status));
  space.fence("tokkos::test::process");
  check_ok(tokkos_context_fence(context.get()));
  CHECK((results.bits() == expected.bits()));

  const std::vector<float> uniforms(rows, 0.625f);
  expected_sampler.sample_from_probabilities(expected.probabilities.matrix(), uniforms,
                                             expected.tokens.vector());
  check_ok(tokkos_sampler_sample_probabilities(sampler.get(), &probabilities, uniforms.data(), rows,
                                               &tokens, nullptr));
  space.fence("tokkos::test::process");
  check_ok(tokkos_context_fence(context.get()));
  CHECK(results.tokens.values() == expected.tokens.values());
}

TEST_CASE("the uniforms of a step are those of C++", "[interop]") {
  const auto given = make_truncated_step(vocabulary, 21);
  const StepOfC step(given->step);
  std::vector<float> uniforms(static_cast<std::size_t>(given->rows));
  check_ok(tokkos_step_uniforms(step.get(), uniforms.data(), uniforms.size()));
  CHECK(uniforms == step_uniforms(given->step.requests(), given->rows));
  CHECK(tokkos_step_uniforms(step.get(), uniforms.data(), uniforms.size() - 1) ==
        TOKKOS_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("a step of no requests does nothing", "[interop]") {
  const Context context = context_on<Kokkos::DefaultHostExecutionSpace>();
  const Processor processor = processor_on(context, limits_of(4, 100));
  const tokkos_step step = tokkos_step_default();
  const tokkos_array logits = tokkos_matrix(nullptr, TOKKOS_FLOAT32, 0, 100, 0);
  const tokkos_step_outputs outputs = tokkos_step_outputs_default();
  check_ok(tokkos_processor_process(processor.get(), &logits, &step, &outputs, nullptr, nullptr));

  const tokkos_array rows = tokkos_matrix(nullptr, TOKKOS_FLOAT32, 0, 0, 0);  // of no length either
  const tokkos_array tokens = tokkos_vector(nullptr, TOKKOS_INT32, 0);
  check_ok(tokkos_processor_process(processor.get(), &rows, &step, &outputs, nullptr, nullptr));
  check_ok(tokkos_processor_update_logits(processor.get(), &rows, &step, nullptr));
  check_ok(tokkos_processor_compute_probabilities(processor.get(), &rows, &step, &rows, nullptr));
  const SamplerOfC sampler = sampler_on(context, limits_of(4, 100));
  check_ok(tokkos_sampler_sample_logits(sampler.get(), &rows, &step, &tokens, nullptr, nullptr));
  check_ok(tokkos_sampler_sample_probabilities(sampler.get(), &rows, nullptr, 0, &tokens, nullptr));
  const Verifier verifier = verifier_on(context, limits_of(4, 100));
  const VerifiedOfC verified = no_results();
  check_ok(tokkos_verifier_verify(verifier.get(), &rows, &step, nullptr, verified.get()));
  check_ok(tokkos_verifier_verify_greedy(verifier.get(), &rows, &step, verified.get()));
}

}  // namespace tokkos::test
