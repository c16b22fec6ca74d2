// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Log-probabilities of the model's own distribution, from a step that edits its logits in place.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "backends.hpp"
#include "engine/random_policies.hpp"
#include "engine/random_step.hpp"
#include "engine/raw_step_views.hpp"
#include "reference/log_probability_reference.hpp"

namespace tokkos::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// What is wrong in the raw log-probabilities of the rows, by the definition on the logits that the
/// step was given.
template <class Backend>
int mistakes(RawStepViews<Backend>& views, const std::vector<typename Backend::logit>& values,
             std::int64_t active) {
  std::vector<float> wide;
  for (const auto x : values) wide.push_back(widen(x));
  const auto tokens = views.tokens.values();
  const auto drawn = views.raw_logprobs.values();
  const auto listed = views.raw_top_tokens.values();
  const auto scores = views.raw_top_logprobs.values();
  int wrong = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    ReferenceRow row;
    row.logits = std::span<const float>(wide).subspan(i * views.vocabulary, views.vocabulary);
    row.active = active;
    const auto expected = reference_log_probabilities(row);
    std::vector<std::int64_t> order = ordered_tokens(row);
    if (reference_softmax(row).status != 0) order.clear();
    order.resize(raw_top, -1);
    const auto is_right = [&](TokenId token, float value) {
      return token < 0 ? value == -infinity : is_close(expected, token, value);
    };
    wrong += is_right(tokens[i], drawn[i]) ? 0 : 1;
    for (std::size_t k = 0; k < raw_top; ++k) {
      wrong += listed[i * raw_top + k] == order[k] ? 0 : 1;
      wrong += is_right(listed[i * raw_top + k], scores[i * raw_top + k]) ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("raw log-probabilities are those of the logits before any edit", "[engine]",
                        Backends) {
  using Space = typename TestType::execution_space;
  const std::int64_t vocabulary = GENERATE(24, 4100);
  int edited = 0, drawn = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(vocabulary, seed);
    const std::int64_t active = vocabulary - static_cast<std::int64_t>(seed % 3);
    RandomStep step = make_random_step_with_histories(vocabulary, active, seed);
    add_policies_and_bans(step, seed);
    if (seed % 2 == 0) step.step.configs[0].top_p = 0.7f;
    const auto rows = static_cast<std::size_t>(step.rows);
    const auto columns = static_cast<std::size_t>(vocabulary);
    const auto values =
        stored_logits<typename TestType::logit>(rows * columns, seed, seed % 4 == 3);
    RawStepViews<TestType> plain(rows, values), raw(rows, values);
    const Space space;
    LogitProcessor<Space> processor(space, step.rows, vocabulary, active);
    const StepOptions options{.store_mask = seed % 4 == 1};
    processor.process(plain.logits.matrix(), step.step.requests(), plain.plain(), options);
    if (seed % 2 == 0) {
      processor.process(raw.logits.matrix(), step.step.requests(), raw.with_raw(), options);
    } else {
      processor.prepare(step.rows, step.step.requests(), options);
      processor.process(raw.logits.matrix(), raw.with_raw());
    }
    space.fence("tokkos::test::processed");
    CHECK(mistakes(raw, values, active) == 0);
    CHECK((raw.tokens.values() == plain.tokens.values() && raw.intact()));
    CHECK(raw.status.values() == plain.status.values());
    CHECK(raw.logprobs.values() == plain.logprobs.values());
    CHECK(raw.probabilities.values() == plain.probabilities.values());
    const auto after = raw.logits.values();
    const auto tokens = raw.tokens.values();
    for (std::size_t i = 0; i < rows; ++i) {
      if (tokens[i] < 0) continue;
      const std::size_t place = i * columns + static_cast<std::size_t>(tokens[i]);
      ++drawn;
      edited += widen(after[place]) != widen(values[place]) ? 1 : 0;
    }
  }
  CHECK(drawn >= 20);
  CHECK((vocabulary > 24 || edited >= 5));
}

TEMPLATE_LIST_TEST_CASE("a drawn token that was biased and penalized has its raw log-probability",
                        "[engine]", Backends) {
  using Space = typename TestType::execution_space;
  using Logit = typename TestType::logit;
  constexpr std::size_t rows = 5;
  const bool in_place = std::is_same_v<Logit, float> && GENERATE(false, true);
  const auto values = stored_logits<Logit>(rows * 8, 3, false);
  const OwnedStep step = edited_tokens();
  RawStepViews<TestType> views(rows, values);
  StepOutputs<typename TestType::memory_space> outputs = views.with_raw();
  if constexpr (std::is_same_v<Logit, float>) {
    if (in_place) outputs.probabilities = views.logits.matrix();
  }
  const Space space;
  LogitProcessor<Space> processor(space, rows, 8);
  processor.process(views.logits.matrix(), step.requests(), outputs);
  space.fence("tokkos::test::processed");
  const auto tokens = views.tokens.values();
  CHECK(tokens[0] == 1);
  CHECK((tokens[1] == 1 || tokens[1] == 2));
  CHECK(tokens[2] == 3);
  CHECK(tokens[3] == 4);
  CHECK((tokens[4] == 0 || tokens[4] == 4));
  CHECK(mistakes(views, values, 8) == 0);
}

TEMPLATE_LIST_TEST_CASE("a logit that only the mask hides makes the raw row unusable alone",
                        "[engine]", Backends) {
  using Space = typename TestType::execution_space;
  auto values = stored_logits<typename TestType::logit>(24, 4, false);
  values[5] = narrow<typename TestType::logit>(std::numeric_limits<float>::quiet_NaN());
  values[8 + 6] = narrow<typename TestType::logit>(infinity);
  OwnedStep step;
  for (int i = 0; i < 3; ++i) step.add({.allowed_token_ids = {2, 3}}, {});
  RawStepViews<TestType> views(3, values);
  const Space space;
  LogitProcessor<Space> processor(space, 3, 8);
  processor.process(views.logits.matrix(), step.requests(), views.with_raw());
  space.fence("tokkos::test::processed");
  CHECK(views.status.values() == std::vector<std::int32_t>(3));
  for (const TokenId token : views.tokens.values()) CHECK((token == 2 || token == 3));
  const auto drawn = views.raw_logprobs.values();
  CHECK((drawn[0] == -infinity && drawn[1] == -infinity && std::isfinite(drawn[2])));
  CHECK(mistakes(views, values, 8) == 0);
}

}  // namespace tokkos::test
