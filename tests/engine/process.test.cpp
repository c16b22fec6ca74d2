// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
// LogitProcessor::process against the calls that it stands for: the same bits, in fewer launches.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"
#include "request/owned_step.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 4500;

template <class Logit>
std::vector<Logit> stored_logits(std::size_t count, std::uint64_t seed, bool special = false) {
  std::mt19937_64 random(seed);
  std::vector<Logit> result;
  for (const float x : random_logits(count, random, special)) result.push_back(narrow<Logit>(x));
  return result;
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float x : values) bits.push_back(std::bit_cast<std::uint32_t>(x));
  return bits;
}

template <class Logit>
std::vector<std::uint32_t> bits_of_logits(const std::vector<Logit>& values) {
  std::vector<float> wide;
  for (const Logit x : values) wide.push_back(widen(x));
  return bits_of(wide);
}

/// A step's Views, with guards around them.
template <class Backend>
struct StepViews {
  using Space = typename Backend::memory_space;
  Guarded<typename Backend::logit, Space> logits;
  Guarded<float, Space> probabilities;
  Guarded<TokenId, Space> tokens;
  Guarded<std::int32_t, Space> status;

  StepViews(std::size_t rows, const std::vector<typename Backend::logit>& values)
      : logits(rows, vocabulary, 3, values),
        probabilities(rows, vocabulary, 5, {}),
        tokens(rows),
        status(rows) {}

  bool intact() const {
    return logits.guards_intact() && probabilities.guards_intact() && tokens.guards_intact() &&
           status.guards_intact();
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("process gives the bits of the calls that it stands for", "[engine]",
                        Backends) {
  using Space = typename TestType::execution_space;
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  const std::int64_t active = seed % 2 == 0 ? vocabulary : 4097;
  const RandomStep step = make_random_step_with_histories(vocabulary, active, seed);
  const auto rows = static_cast<std::size_t>(step.rows);
  const bool special = seed == 4;  // NaN and infinities, which leave no row usable
  const auto values = stored_logits<typename TestType::logit>(rows * vocabulary, seed, special);
  const StepRequests requests = step.step.requests();
  const Snapshot before(step);
  const Space space;
  LogitProcessor<Space> processor(space, step.rows, vocabulary, active);
  Sampler<Space> sampler(space, step.rows, vocabulary, active);

  StepViews<TestType> apart(rows, values);
  processor.inplace_update_logits(apart.logits.matrix(), requests, apart.status.vector());
  sampler.sample_from_logits(apart.logits.matrix(), requests, apart.tokens.vector(), {},
                             apart.status.vector());
  processor.compute_probs_from_logits(apart.logits.matrix(), requests,
                                      apart.probabilities.matrix());

  StepViews<TestType> both(rows, values), tokens(rows, values), probabilities(rows, values);
  processor.process(both.logits.matrix(), requests,
                    {.probabilities = both.probabilities.matrix(),
                     .tokens = both.tokens.vector(),
                     .row_status = both.status.vector()},
                    {.store_mask = true});
  processor.process(tokens.logits.matrix(), requests,
                    {.tokens = tokens.tokens.vector(), .row_status = tokens.status.vector()});
  processor.process(probabilities.logits.matrix(), requests,
                    {.probabilities = probabilities.probabilities.matrix(),
                     .row_status = probabilities.status.vector()});
  space.fence("tokkos::test::process");

  CHECK(bits_of_logits(both.logits.values()) == bits_of_logits(apart.logits.values()));
  const auto expected = bits_of(apart.probabilities.values());
  CHECK(bits_of(both.probabilities.values()) == expected);
  CHECK(bits_of(probabilities.probabilities.values()) == expected);
  CHECK(both.tokens.values() == apart.tokens.values());
  CHECK(tokens.tokens.values() == apart.tokens.values());
  const auto status = apart.status.values();
  CHECK(both.status.values() == status);
  CHECK(tokens.status.values() == status);
  CHECK(probabilities.status.values() == status);
  CHECK((apart.intact() && both.intact() && tokens.intact() && probabilities.intact()));
  CHECK(Snapshot(step) == before);
  const auto drawn = apart.tokens.values();
  const auto unusable = static_cast<std::size_t>(std::ranges::count(drawn, -1));
  CHECK((special ? unusable > 0 : 2 * unusable < rows));
}

TEMPLATE_LIST_TEST_CASE("process in place writes the probabilities over the logits", "[engine]",
                        ExecutionSpaces) {
  const RandomStep step = make_random_step_with_histories(vocabulary, vocabulary, 7);
  const auto rows = static_cast<std::size_t>(step.rows);
  const auto values = stored_logits<float>(rows * vocabulary, 7);
  StepViews<Backend<TestType, float>> apart(rows, values), in_place(rows, values);
  LogitProcessor<TestType> processor(TestType(), step.rows, vocabulary);
  const StepRequests requests = step.step.requests();
  processor.process(
      apart.logits.matrix(), requests,
      {.probabilities = apart.probabilities.matrix(), .tokens = apart.tokens.vector()});
  processor.process(
      in_place.logits.matrix(), requests,
      {.probabilities = in_place.logits.matrix(), .tokens = in_place.tokens.vector()});
  Kokkos::fence("tokkos::test::process");
  CHECK(bits_of(in_place.logits.values()) == bits_of(apart.probabilities.values()));
  CHECK(in_place.tokens.values() == apart.tokens.values());
}

TEMPLATE_LIST_TEST_CASE("process refuses uniforms that are none and writes nothing", "[engine]",
                        ExecutionSpaces) {
  const RandomStep step = make_random_step_with_histories(vocabulary, vocabulary, 8);
  const auto rows = static_cast<std::size_t>(step.rows);
  const auto values = stored_logits<float>(rows * vocabulary, 8);
  StepViews<Backend<TestType, float>> views(rows, values);
  LogitProcessor<TestType> processor(TestType(), step.rows, vocabulary);
  const bool draws = GENERATE(true, false);
  struct Bad {
    std::vector<float> uniforms;
    std::string field;
  };
  std::vector<Bad> all{{std::vector<float>(rows - 1, 0.5f), "uniforms.size"}};
  for (const float u : {-0.1f, 1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    all.push_back({std::vector<float>(rows, 0.5f), "uniforms"});
    all.back().uniforms.back() = u;
  }
  for (const Bad& bad : all) {
    StepOutputs<MemoryOf<TestType>> outputs;
    outputs.probabilities = views.probabilities.matrix();
    if (draws) outputs.tokens = views.tokens.vector();
    try {
      processor.process(views.logits.matrix(), step.step.requests(), outputs,
                        {.uniforms = bad.uniforms});
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.field() == bad.field);
    }
  }
  Kokkos::fence("tokkos::test::process");
  CHECK(bits_of(views.logits.values()) == bits_of(values));
  CHECK(views.probabilities.values() == std::vector<float>(rows * vocabulary));
  CHECK((views.tokens.values() == std::vector<TokenId>(rows) && views.intact()));
}

TEMPLATE_LIST_TEST_CASE("process takes at most four launches for one output", "[engine]",
                        ExecutionSpaces) {
  const RandomStep step = make_random_step_with_histories(vocabulary, vocabulary, 11);
  const auto rows = static_cast<std::size_t>(step.rows);
  const StepViews<Backend<TestType, float>> views(rows,
                                                  stored_logits<float>(rows * vocabulary, 11));
  LogitProcessor<TestType> processor(TestType(), step.rows, vocabulary);
  const auto launches = [&](const StepOutputs<MemoryOf<TestType>>& outputs) {
    const KokkosEvents events;
    processor.process(views.logits.matrix(), step.step.requests(), outputs);
    Kokkos::fence("tokkos::test::process");
    CHECK(!events.launches().empty());
    return events.launches().size();
  };
  CHECK(launches({.probabilities = views.probabilities.matrix()}) <= 4);
  CHECK(launches({.tokens = views.tokens.vector()}) <= 4);
}

TEMPLATE_LIST_TEST_CASE(
    "a step of long rows launches no more, allocates nothing, waits for nothing", "[engine]",
    ExecutionSpaces) {
  constexpr std::int64_t long_row = 131072;
  using Memory = MemoryOf<TestType>;
  for (const std::int64_t rows : {1, 2, 40}) {  // shared by chunk, if there are threads; whole rows
    CAPTURE(rows);
    OwnedStep owned;
    for (std::int64_t i = 0; i < rows; ++i) owned.add({.logit_bias = {{7, 1.0}}});
    const auto n = static_cast<std::size_t>(rows);
    const Guarded<float, Memory> logits(n, long_row, 0, {});
    const Guarded<float, Memory> probabilities(n, long_row, 0, {});  // 40 rows: past the caches
    const Guarded<float, Memory> sums(n);
    const Guarded<TokenId, Memory> tokens(n);
    const std::vector<float> uniforms(n, 0.5f);
    LogitProcessor<TestType> processor(TestType(), rows, long_row);
    const auto check = [&](const StepOutputs<Memory>& outputs, std::size_t most) {
      const auto run = [&] {
        processor.process(logits.matrix(), owned.requests(), outputs, {.uniforms = uniforms});
      };
      run();
      Kokkos::fence("tokkos::test::warm");
      const KokkosEvents events;
      run();
      CHECK(events.launches().size() <= most);
      CHECK(!events.launches().empty());
      CHECK(events.allocations().empty());
      CHECK(events.fences().empty());
      Kokkos::fence("tokkos::test::process");
      return events.launches();
    };
    const auto softmax = check({.probabilities = probabilities.matrix()}, 4);
    check({.tokens = tokens.vector()}, 4);
    check({.log_sum_exp = sums.vector()}, 4);
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible) {
      const bool shares = rows == 1 && TestType().concurrency() > 1;
      CHECK(std::ranges::count(softmax, "tokkos::softmax::weigh") == (shares ? 1 : 0));
    }
  }
}

}  // namespace tokkos::test
