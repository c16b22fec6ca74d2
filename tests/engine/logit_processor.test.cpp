// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"
#include "reference/processor_reference.hpp"
#include "reference/softmax_reference.hpp"

namespace tokkos::test {
namespace {

template <class Logit>
constexpr StoredAs stored_as = std::is_same_v<Logit, float>      ? StoredAs::float32
                               : std::is_same_v<Logit, bfloat16> ? StoredAs::bfloat16
                                                                 : StoredAs::float16;

template <class Logit>
std::vector<Logit> narrowed(const std::vector<float>& values) {
  std::vector<Logit> result;
  for (const float x : values) result.push_back(narrow<Logit>(x));
  return result;
}

template <class Logit>
std::vector<float> widened(const std::vector<Logit>& values) {
  std::vector<float> result;
  for (const Logit x : values) result.push_back(widen(x));
  return result;
}

/// Equal numbers with equal signs, or both NaN.
bool same_number(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// Every row of the step edited by the reference.
std::vector<float> expected_logits(const RandomStep& step, std::vector<float> logits,
                                   StoredAs type) {
  const StepRequests requests = step.step.requests();
  const auto columns = static_cast<std::size_t>(step.vocabulary);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (std::int64_t row = requests.first_row(i); row < requests.end_row(i); ++row) {
      apply_edits(std::span(logits).subspan(static_cast<std::size_t>(row) * columns, columns),
                  step.edits(i, row - requests.first_row(i)), type);
    }
  }
  return logits;
}

void check_probabilities(const RandomStep& step, const std::vector<float>& logits,
                         const std::vector<float>& probabilities,
                         const std::vector<std::int32_t>& status) {
  const StepRequests requests = step.step.requests();
  const auto columns = static_cast<std::size_t>(step.vocabulary);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (std::int64_t r = requests.first_row(i); r < requests.end_row(i); ++r) {
      const std::size_t begin = static_cast<std::size_t>(r) * columns;
      const ReferenceRow row{std::span(logits).subspan(begin, columns),
                             {},
                             step.active,
                             step.step.configs[i].temperature};
      const ReferenceSoftmax expected = reference_softmax(row);
      const SoftmaxMistakes mistakes =
          compare(row, expected, std::span(probabilities).subspan(begin, columns));
      CAPTURE(i, r);
      CHECK(mistakes.not_zero == 0);
      CHECK(mistakes.out_of_bound == 0);
      CHECK(mistakes.subnormal == 0);
      CHECK(mistakes.sum_error <= 1e-6);
      CHECK(status[static_cast<std::size_t>(r)] == expected.status);
    }
  }
}

template <class Backend>
void check_step(const RandomStep& step, bool special) {
  using Logit = typename Backend::logit;
  using Space = typename Backend::execution_space;
  using MemorySpace = typename Backend::memory_space;
  std::mt19937_64 random(7);
  const auto rows = static_cast<std::size_t>(step.rows);
  const auto columns = static_cast<std::size_t>(step.vocabulary);
  const std::vector<Logit> input = narrowed<Logit>(random_logits(rows * columns, random, special));
  Guarded<Logit, MemorySpace> logits(rows, columns, 3, std::span(input));
  Guarded<float, MemorySpace> probabilities(rows, columns, 5, {});
  Guarded<std::int32_t, MemorySpace> status(rows);
  LogitProcessor<Space> processor(Space(), step.rows + 2, step.vocabulary, step.active);
  const Snapshot before(step);

  processor.inplace_update_logits(logits.matrix(), step.step.requests(), status.vector());
  Kokkos::fence("tokkos::test::updated");
  const std::vector<float> updated = widened(logits.values());
  const std::vector<float> expected = expected_logits(step, widened(input), stored_as<Logit>);
  int wrong_logits = 0;
  for (std::size_t i = 0; i < updated.size(); ++i) {
    wrong_logits += same_number(updated[i], expected[i]) ? 0 : 1;
  }
  CHECK(wrong_logits == 0);
  CHECK(Snapshot(step) == before);

  processor.compute_probs_from_logits(logits.matrix(), step.step.requests(), probabilities.matrix(),
                                      status.vector());
  Kokkos::fence("tokkos::test::probabilities");
  check_probabilities(step, updated, probabilities.values(), status.values());
  CHECK(Snapshot(step) == before);
  logits.values();
  CHECK((logits.guards_intact() && probabilities.guards_intact() && status.guards_intact()));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a step's logits and probabilities agree with the plain reference",
                        "[engine]", Backends) {
  const std::int64_t vocabulary = GENERATE(24, 37, 100, 4100);
  const std::int64_t beyond = GENERATE(0, 5);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(vocabulary, beyond, seed);
    check_step<TestType>(make_random_step(vocabulary, vocabulary - beyond, seed), seed % 2 == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("a draft node is penalized by the history and its own path", "[engine]",
                        ExecutionSpaces) {
  GenerationConfig config;
  config.frequency_penalty = 1;
  config.presence_penalty = 0.5f;
  TokenHistory history({0, 0, 0});  // the prompt does not count
  history.commit(1);
  OwnedStep step;
  step.add(config, history);
  step.trees = {{{1, 2, 2, 3}, {-1, 0, 1, -1}}};  // 1 -> 2 -> 2, and 3
  step.indices = {{-1, 2, 3}};
  step.cum_num_token = {0, 3};
  Guarded<float, MemoryOf<TestType>> logits(3, 5, 0, {});
  LogitProcessor<TestType> processor(TestType(), 3, 5);
  processor.inplace_update_logits(logits.matrix(), step.requests());
  Kokkos::fence("tokkos::test::updated");
  CHECK(logits.values() == std::vector<float>{0, -1.5f, 0, 0, 0,        // history: 1
                                              0, -2.5f, -2.5f, 0, 0,    // history: 1; path: 1 2 2
                                              0, -1.5f, 0, -1.5f, 0});  // history: 1; path: 3
  CHECK(step.histories[0].generated().size() == 1);
  CHECK(step.histories[0].count(2) == 0);
}

TEMPLATE_LIST_TEST_CASE("biases, penalties and mask come in this order", "[engine]",
                        ExecutionSpaces) {
  GenerationConfig config;
  config.logit_bias = {{0, 3.0}, {1, 5.0}, {1, -1.0}, {1, 2.0}};
  config.repetition_penalty = 2;
  TokenHistory history;
  history.commit(0);
  history.commit(1);
  OwnedStep step;
  step.add(config, history);
  const std::vector<float> input = {-1, -8, 1};
  Guarded<float, MemoryOf<TestType>> logits(1, 3, 0, std::span(input));
  LogitProcessor<TestType> processor(TestType(), 1, 3);
  processor.inplace_update_logits(logits.matrix(), step.requests());
  Kokkos::fence("tokkos::test::updated");
  // Penalty first would give -2 + 3 = 1; the biased 2 is halved, the biased -2 doubled.
  CHECK(logits.values() == std::vector<float>{1, -4, 1});
}

TEMPLATE_LIST_TEST_CASE("probabilities in place are the same bits", "[engine]", ExecutionSpaces) {
  const RandomStep step = make_random_step(5000, 4990, 5);
  std::mt19937_64 random(3);
  const auto rows = static_cast<std::size_t>(step.rows);
  const std::vector<float> input = random_logits(rows * 5000, random, false);
  Guarded<float, MemoryOf<TestType>> logits(rows, 5000, 3, std::span(input));
  Guarded<float, MemoryOf<TestType>> probabilities(rows, 5000, 0, {});
  LogitProcessor<TestType> processor(TestType(), step.rows, 5000, 4990);
  const StepRequests requests = step.step.requests();
  processor.inplace_update_logits(logits.matrix(), requests);
  processor.compute_probs_from_logits(logits.matrix(), requests, probabilities.matrix());
  processor.compute_probs_from_logits(logits.matrix(), requests, logits.matrix());
  Kokkos::fence("tokkos::test::probabilities");
  CHECK(logits.values() == probabilities.values());
  CHECK(logits.guards_intact());
}

TEMPLATE_LIST_TEST_CASE("a request's rows are the same bits alone and in a batch", "[engine]",
                        ExecutionSpaces) {
  const RandomStep step = make_random_step(300, 300, 7);
  std::mt19937_64 random(3);
  const std::vector<float> input =
      random_logits(static_cast<std::size_t>(step.rows) * 300, random, true);
  const StepRequests requests = step.step.requests();
  const auto probabilities_of = [&](const StepRequests& some, std::span<const float> rows_input) {
    const std::size_t rows = rows_input.size() / 300;
    Guarded<float, MemoryOf<TestType>> logits(rows, 300, 0, rows_input);
    LogitProcessor<TestType> processor(TestType(), 100, 300);
    processor.inplace_update_logits(logits.matrix(), some);
    processor.compute_probs_from_logits(logits.matrix(), some, logits.matrix());
    Kokkos::fence("tokkos::test::probabilities");
    return logits.values();
  };
  const std::vector<float> together = probabilities_of(requests, input);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto begin = static_cast<std::size_t>(requests.first_row(i)) * 300;
    const auto end = static_cast<std::size_t>(requests.end_row(i)) * 300;
    StepRequests alone = requests;
    alone.generation_configs = requests.generation_configs.subspan(i, 1);
    alone.sequence_states = requests.sequence_states.subspan(i, 1);
    alone.request_ids = requests.request_ids.subspan(i, 1);
    const std::vector<std::int32_t> cum = {0, static_cast<std::int32_t>((end - begin) / 300)};
    alone.cum_num_token = cum;
    if (requests.draft_trees) {
      alone.draft_trees = requests.draft_trees->subspan(i, 1);
      alone.draft_token_indices = requests.draft_token_indices->subspan(i, 1);
    }
    const std::vector<float> result =
        probabilities_of(alone, std::span(input).subspan(begin, end - begin));
    CHECK(result == std::vector<float>(together.begin() + static_cast<std::ptrdiff_t>(begin),
                                       together.begin() + static_cast<std::ptrdiff_t>(end)));
  }
}

TEMPLATE_LIST_TEST_CASE("a step of no rows does nothing", "[engine]", ExecutionSpaces) {
  LogitProcessor<TestType> processor(TestType(), 4, 10);
  const Guarded<float, MemoryOf<TestType>> logits(0, 10, 0, {});
  CHECK_NOTHROW(processor.inplace_update_logits(logits.matrix(), StepRequests{}));
  CHECK_NOTHROW(
      processor.compute_probs_from_logits(logits.matrix(), StepRequests{}, logits.matrix()));
}

TEMPLATE_LIST_TEST_CASE("biases of one token that overflow together do not forbid it", "[engine]",
                        ExecutionSpaces) {
  OwnedStep step;
  GenerationConfig config;
  config.logit_bias = {{0, -3e38}, {0, -3e38}, {1, 3e38}, {1, 3e38}};
  step.add(config);
  const std::vector<float> values = {1.0f, 1.0f};
  Guarded<float, MemoryOf<TestType>> logits(1, 2, 0, values);
  LogitProcessor<TestType> processor(TestType(), 1, 2);
  processor.inplace_update_logits(logits.matrix(), step.requests());
  Kokkos::fence("tokkos::test::biases");
  CHECK(logits.values() == std::vector<float>{-0x1.fffffcp127f, 0x1.fffffcp127f});
}

TEMPLATE_LIST_TEST_CASE("biases of one token that come to the end of the range are one such bias",
                        "[engine]", ExecutionSpaces) {
  constexpr double end = FLT_MAX;
  OwnedStep step;
  GenerationConfig config{.temperature = 0.0f};
  config.logit_bias = {{0, -end}, {1, -end}, {1, 0.0}, {2, -end / 2}, {2, -end / 2},  {3, -end},
                       {3, -end}, {4, end},  {5, end}, {5, 0.0},      {6, -INFINITY}, {6, end}};
  step.add(config);
  const std::vector<float> values(7, 1.0f);
  Guarded<float, MemoryOf<TestType>> logits(1, 7, 0, values), probabilities(1, 7, 0, {});
  LogitProcessor<TestType> processor(TestType(), 1, 7);
  processor.inplace_update_logits(logits.matrix(), step.requests());
  processor.compute_probs_from_logits(logits.matrix(), step.requests(), probabilities.matrix());
  Kokkos::fence("tokkos::test::biases");
  // What is exactly -FLT_MAX is forbidden, however it came about; what overflowed is allowed.
  CHECK(logits.values() == std::vector<float>{-FLT_MAX, -FLT_MAX, -FLT_MAX, -0x1.fffffcp127f,
                                              FLT_MAX, FLT_MAX, -INFINITY});
  CHECK(probabilities.values() == std::vector<float>{0, 0, 0, 0, 0.5f, 0.5f, 0});
}

}  // namespace tokkos::test
