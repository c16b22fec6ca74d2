// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Every member of a config of C arrives: it changes the step as it does in C++.
#include <tokkos/tokkos.h>
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "interop/c_step.hpp"
#include "interop/step_results.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 64;

using Space = Kokkos::Serial;
using Results = StepResults<MemoryOf<Space>, float>;
using Change = std::function<void(GenerationConfig&)>;

OwnedStep step_of(const GenerationConfig& config) {
  TokenHistory history({1, 2});
  for (const TokenId token : {3, 3, 4}) history.commit(token);
  OwnedStep step;
  step.add(config, history);
  return step;
}

/// The step's results by C, which must be those of C++.
Bits results_of(const GenerationConfig& config) {
  const OwnedStep owned = step_of(config);
  const StepOfC step(owned);
  const Results expected(1, vocabulary, 8), results(1, vocabulary, 8);
  LogitProcessor<Space> expected_processor(Space(), 1, vocabulary);
  expected_processor.process(expected.logits.matrix(), owned.requests(), expected.outputs());
  const Context context = context_on<Space>();
  const Processor processor = processor_on(context, limits_of(1, vocabulary));
  const OutputsOfC outputs = results.outputs_of_c();
  const tokkos_array logits = array_of(results.logits.matrix());
  check_ok(tokkos_processor_process(processor.get(), &logits, step.get(), outputs.get(), nullptr,
                                    nullptr));
  CHECK((results.bits() == expected.bits()));
  return results.bits();
}

}  // namespace

TEST_CASE("every member of a config changes what it changes in C++", "[interop]") {
  GenerationConfig plain;
  plain.temperature = 16.0f;  // so flat that another seed draws another token
  plain.presence_penalty = 0.5f;
  plain.frequency_penalty = 0.25f;
  plain.repetition_penalty = 1.25f;
  plain.end_token_ids = {5};
  plain.penalty_policy = PenaltyPolicy::llama_cpp;
  const Bits before = results_of(plain);
  const std::vector<std::pair<std::string, Change>> changes{
      {"temperature", [](GenerationConfig& c) { c.temperature = 0.5f; }},
      {"top_k", [](GenerationConfig& c) { c.top_k = 2; }},
      {"top_p", [](GenerationConfig& c) { c.top_p = 0.25f; }},
      {"min_p", [](GenerationConfig& c) { c.min_p = 0.75f; }},
      {"presence_penalty", [](GenerationConfig& c) { c.presence_penalty = 2.0f; }},
      {"frequency_penalty", [](GenerationConfig& c) { c.frequency_penalty = 2.0f; }},
      {"repetition_penalty", [](GenerationConfig& c) { c.repetition_penalty = 3.0f; }},
      {"penalty_policy", [](GenerationConfig& c) { c.penalty_policy = PenaltyPolicy::openai; }},
      {"penalty_window", [](GenerationConfig& c) { c.penalty_window = 1; }},
      {"min_tokens", [](GenerationConfig& c) { c.min_tokens = 100; }},
      {"no_repeat_ngram_size", [](GenerationConfig& c) { c.no_repeat_ngram_size = 1; }},
      {"logit_bias",
       [](GenerationConfig& c) {
         c.logit_bias = {{7, 3.5}};
       }},
      {"allowed_token_ids",
       [](GenerationConfig& c) {
         c.allowed_token_ids = {7, 8, 60};
       }},
      {"banned_token_ids", [](GenerationConfig& c) { c.banned_token_ids = {9}; }},
      {"bad_words",
       [](GenerationConfig& c) {
         c.bad_words = {{4, 10}, {11}};
       }},
      {"seed", [](GenerationConfig& c) { c.seed = 12345; }},
      {"stream", [](GenerationConfig& c) { c.stream = 0xFFFFFFFEu; }},
      {"stream 0, which is not none", [](GenerationConfig& c) { c.stream = 0; }},
  };
  for (const auto& [name, change] : changes) {
    CAPTURE(name);
    GenerationConfig config = plain;
    change(config);
    CHECK((results_of(config) != before));
  }
  // The end tokens show where a minimum length has them banned.
  GenerationConfig longer = plain, other_end = plain;
  longer.min_tokens = other_end.min_tokens = 100;
  other_end.end_token_ids = {6};
  CHECK((results_of(longer) != results_of(other_end)));
}

}  // namespace tokkos::test
