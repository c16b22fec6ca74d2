// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/row_status.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "backends.hpp"
#include "engine/philox_by_hand.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"
#include "reference/softmax_reference.hpp"
#include "reference/verify_reference.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

template <class ExecutionSpace>
using Ids = Guarded<TokenId, MemoryOf<ExecutionSpace>>;
template <class ExecutionSpace>
using Rows = Guarded<float, MemoryOf<ExecutionSpace>>;

template <class Logit>
std::vector<Logit> narrowed(const std::vector<float>& values) {
  std::vector<Logit> result;
  for (const float x : values) result.push_back(narrow<Logit>(x));
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a token is drawn where its uniform falls", "[engine]", Backends) {
  using Logit = typename TestType::logit;
  using MemorySpace = typename TestType::memory_space;
  using Space = typename TestType::execution_space;
  std::mt19937_64 random(5);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const std::int64_t vocabulary = seed % 2 == 0 ? 90 : 9000, active = vocabulary - 4;
    const RandomStep step = make_random_step(vocabulary, active, seed);
    const auto rows = static_cast<std::size_t>(step.rows);
    const auto columns = static_cast<std::size_t>(vocabulary);
    std::vector<float> values = random_logits(rows * columns, random, seed % 3 == 0);
    std::vector<float> uniforms;
    for (std::size_t i = 0; i < rows; ++i) uniforms.push_back(random_uniform(random));
    const std::vector<Logit> input = narrowed<Logit>(values);
    Guarded<Logit, MemorySpace> logits(rows, columns, 3, std::span(input));
    Guarded<TokenId, MemorySpace> tokens(rows);
    Guarded<std::int32_t, MemorySpace> status(rows);
    Sampler<Space> sampler(Space(), step.rows, vocabulary, active);
    sampler.sample_from_logits(logits.matrix(), step.step.requests(), tokens.vector(), uniforms,
                               status.vector());
    Kokkos::fence("tokkos::test::drawn");
    const std::vector<TokenId> drawn = tokens.values();
    const std::vector<std::int32_t> bits = status.values();
    const StepRequests requests = step.step.requests();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = widen(input[i]);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      for (auto r = static_cast<std::size_t>(requests.first_row(i));
           r < static_cast<std::size_t>(requests.end_row(i)); ++r) {
        CAPTURE(seed, i, r, drawn[r]);
        const ReferenceSoftmax expected =
            reference_softmax({std::span(values).subspan(r * columns, columns),
                               {},
                               active,
                               step.step.configs[i].temperature});
        CHECK(bits[r] == expected.status);
        if (expected.status != 0) {
          CHECK(drawn[r] == -1);
        } else {
          CHECK(distance_from_share(expected, drawn[r], uniforms[r]) <= 1e-6);
        }
      }
    }
    CHECK((tokens.guards_intact() && status.guards_intact()));
  }
}

TEMPLATE_LIST_TEST_CASE("without uniforms a sampler draws by Philox", "[engine]", ExecutionSpaces) {
  std::mt19937_64 random(5);
  OwnedStep step;
  std::vector<float> uniforms;
  for (int i = 0; i < 40; ++i) {
    GenerationConfig config;
    config.seed = random();
    TokenHistory history;
    for (int t = 0; t < i % 5; ++t) history.commit(t);
    step.add(config, history);
    uniforms.push_back(philox_by_hand(config.seed, static_cast<std::uint32_t>(i % 5), 0, 0,
                                      fnv_by_hand(step.ids.back())));
  }
  const std::vector<float> input(40 * 1000);  // 1000 equal tokens: the uniform shows
  const Rows<TestType> logits(40, 1000, 0, std::span(input));
  Ids<TestType> by_philox(40), by_hand(40);
  Sampler<TestType> sampler(TestType(), 40, 1000);
  sampler.sample_from_logits(logits.matrix(), step.requests(), by_philox.vector());
  sampler.sample_from_logits(logits.matrix(), step.requests(), by_hand.vector(), uniforms);
  Kokkos::fence("tokkos::test::drawn");
  CHECK(by_philox.values() == by_hand.values());
  for (std::size_t i = 0; i < 40; ++i) {
    const auto exact = static_cast<TokenId>(double{uniforms[i]} * 1000);
    CHECK(std::abs(by_philox.values()[i] - exact) <= 1);
  }
}

TEMPLATE_LIST_TEST_CASE("a greedy request gets a maximum", "[engine]", ExecutionSpaces) {
  OwnedStep step;
  GenerationConfig greedy;
  greedy.temperature = 1e-5f;
  for (int i = 0; i < 3; ++i) step.add(greedy);
  const std::vector<float> input = {1, 3, 2, 3, 3, 2, 3, 1, 0, 5, 0, 0};
  const Rows<TestType> logits(3, 4, 0, std::span(input));
  Ids<TestType> tokens(3);
  Sampler<TestType> sampler(TestType(), 3, 4);
  const std::vector<float> late = {0.75f, 0.75f, 0.75f};
  sampler.sample_from_logits(logits.matrix(), step.requests(), tokens.vector(), late);
  Kokkos::fence("tokkos::test::drawn");
  CHECK(tokens.values() == std::vector<TokenId>{3, 2, 1});
  sampler.sample_from_logits(logits.matrix(), step.requests(), tokens.vector(), late, {},
                             GreedyTies::lowest_id);
  Kokkos::fence("tokkos::test::drawn");
  CHECK(tokens.values() == std::vector<TokenId>{1, 0, 1});
}

TEMPLATE_LIST_TEST_CASE("a sampler draws from given probabilities by exact mass", "[engine]",
                        ExecutionSpaces) {
  std::mt19937_64 random(5);
  std::vector<float> input(30 * 77), uniforms;
  std::vector<TokenId> expected;
  for (std::size_t row = 0; row < 30; ++row) {
    const auto p = std::span(input).subspan(row * 77, 77);
    fill_random_distribution(p, random);
    uniforms.push_back(random_uniform(random));
    expected.push_back(draw_by_mass(p, uniforms.back()));
  }
  const Rows<TestType> probabilities(30, 77, 2, std::span(input));
  Ids<TestType> tokens(30);
  Sampler<TestType> sampler(TestType(), 30, 77);
  sampler.sample_from_probabilities(probabilities.matrix(), uniforms, tokens.vector());
  Kokkos::fence("tokkos::test::drawn");
  CHECK(tokens.values() == expected);
}

TEMPLATE_LIST_TEST_CASE("a sampler refuses wrong inputs and stays usable", "[engine]",
                        ExecutionSpaces) {
  OwnedStep step;
  for (int i = 0; i < 3; ++i) step.add({});
  const Rows<TestType> logits(3, 4, 0, {}), narrow_rows(3, 3, 0, {}), many(5, 4, 0, {});
  Ids<TestType> tokens(3), few(2);
  Sampler<TestType> sampler(TestType(), 4, 4);
  const auto sample = [&](std::vector<float> uniforms) {
    sampler.sample_from_logits(logits.matrix(), step.requests(), tokens.vector(), uniforms);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float u : {nan, 1.0f, -0x1p-24f, -1.0f, 2.0f}) {
    const Complaint complaint = error_of([&] { sample({0.5f, 0.5f, u}); });
    CHECK(complaint.names("uniforms"));
    CHECK(complaint.index == 2);
    CHECK(complaint.value == to_text(u));
    CHECK_THROWS_AS(sampler.sample_from_probabilities(
                        logits.matrix(), std::vector<float>{0.5f, 0.5f, u}, tokens.vector()),
                    Error);
  }
  CHECK_THROWS_AS(sample({0.5f, 0.5f}), Error);
  CHECK_THROWS_AS(sample({0.5f, 0.5f, 0.5f, 0.5f}), Error);
  CHECK_THROWS_AS(
      sampler.sample_from_logits(narrow_rows.matrix(), step.requests(), tokens.vector()), Error);
  CHECK_THROWS_AS(sampler.sample_from_logits(many.matrix(), step.requests(), tokens.vector()),
                  Error);
  CHECK_THROWS_AS(sampler.sample_from_logits(logits.matrix(), step.requests(), few.vector()),
                  Error);
  CHECK_THROWS_AS(sampler.sample_from_logits(logits.matrix(), step.requests(), tokens.vector(), {},
                                             few.vector()),
                  Error);
  step.ids.clear();  // Philox streams are named by them
  CHECK(error_of([&] { sample({}); }).names("request_ids"));
  step.configs[1].temperature = nan;
  CHECK(error_of([&] { sample({0.5f, 0.5f, 0.5f}); }).names("temperature"));
  step.configs[1].temperature = 1;
  Kokkos::fence("tokkos::test::refused");
  CHECK(tokens.values() == std::vector<TokenId>{0, 0, 0});
  sample({0.0f, 0.5f, 0.8f});
  Kokkos::fence("tokkos::test::drawn");
  CHECK(tokens.values() == std::vector<TokenId>{0, 2, 3});
}

TEMPLATE_LIST_TEST_CASE("given probabilities past the active vocabulary are never drawn",
                        "[engine]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const std::vector<float> row = {0.5f, 0.5f, 0.0f, 0.0f, 1.0f};
  const Guarded<float, MemorySpace> probabilities(1, 5, 0, row);
  Guarded<TokenId, MemorySpace> tokens(1);
  Sampler<TestType> sampler(TestType(), 1, 5, 2);
  const std::vector<float> late = {0.999f};
  sampler.sample_from_probabilities(probabilities.matrix(), late, tokens.vector());
  Kokkos::fence("tokkos::test::sample");
  CHECK(tokens.values() == std::vector<TokenId>{1});
}

}  // namespace tokkos::test
