// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Edits of the user's own: biases that a function on the host appends, and kernels between edits
// and mask.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "backends.hpp"
#include "engine/scripted_grammar.hpp"
#include "kernels/guarded.hpp"
#include "request/error_of.hpp"
#include "request/owned_step.hpp"

namespace tokkos::test {
namespace {

/// Two rows of one request, the second behind the draft 2, and a row of another one.
OwnedStep three_rows() {
  TokenHistory history({0});
  history.commit(1);
  OwnedStep step;
  step.add({.repetition_penalty = 2.0f, .logit_bias = {{1, 1.0}}}, history);
  step.add({}, {});
  step.trees = {{{2}, {-1}}, {}};
  step.indices = {{-1, 0}, {-1}};
  step.cum_num_token = {0, 2, 3};
  return step;
}

template <class Logit, class Memory>
struct DoubleEvenTokens {
  Matrix<Logit, Memory> logits;

  KOKKOS_FUNCTION void operator()(const int row) const {
    for (std::size_t token = 0; token < logits.extent(1); token += 2) {
      logits(row, token) = narrow<Logit>(2.0f * widen(logits(row, token)));
    }
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a hook's biases come after the request's and before the penalties",
                        "[engine]", ExecutionSpaces) {
  const OwnedStep step = three_rows();
  const EditHook hook = [](tokkos::RowEdits& edits) {
    if (edits.request() == 0) edits.add_bias(1, 0.5);
    if (edits.draft_node() == 0) edits.forbid(3);
    if (edits.context().size() == 0) edits.add_bias(0, -4.0);
  };
  StepRequests requests = step.requests();
  requests.edit_hook = &hook;
  const std::vector<float> values(12, 2.5f);
  const std::vector<float> expected = {2.5f,  2,    2.5f,  2.5f,        // (2.5 + 1 + 0.5) / 2
                                       2.5f,  2,    1.25f, -HUGE_VALF,  // 2 is a draft
                                       -1.5f, 2.5f, 2.5f,  2.5f};
  LogitProcessor<TestType> processor(TestType(), 3, 4);
  Guarded<float, MemoryOf<TestType>> logits(3, 4, 0, std::span<const float>(values));
  processor.inplace_update_logits(logits.matrix(), requests);
  Kokkos::fence("tokkos::test::updated");
  CHECK(logits.values() == expected);

  Guarded<float, MemoryOf<TestType>> fused(3, 4, 0, std::span<const float>(values));
  Guarded<float, MemoryOf<TestType>> log_sum_exp(3);
  processor.process(fused.matrix(), requests, {.log_sum_exp = log_sum_exp.vector()});
  Kokkos::fence("tokkos::test::processed");
  CHECK(fused.values() == expected);
}

TEMPLATE_LIST_TEST_CASE("a hook that calls its own processor is refused", "[engine]",
                        ExecutionSpaces) {
  using Matrix = tokkos::Matrix<float, MemoryOf<TestType>>;
  OwnedStep step;
  step.add({.logit_bias = {{1, 1.0}}}, {});
  Guarded<float, MemoryOf<TestType>> logits(1, 4, 0, {}), other(1, 4, 0, {});
  Guarded<float, MemoryOf<TestType>> log_sum_exp(1);
  LogitProcessor<TestType> processor(TestType(), 1, 4);
  const StepOutputs<MemoryOf<TestType>> outputs{.log_sum_exp = log_sum_exp.vector()};
  int refused = 0;
  const auto refuses = [&](const auto& call) {
    CHECK(error_of(call).field == "LogitProcessor");
    ++refused;
  };
  const auto call_all = [&] {
    const StepRequests requests = step.requests();
    const float half = 0.5f;
    refuses([&] { processor.prepare(1, requests, {.uniforms = {&half, 1}}); });
    refuses([&] { processor.process(other.matrix(), requests, outputs); });
    refuses([&] { processor.process(other.matrix(), outputs); });
    refuses([&] { processor.inplace_update_logits(other.matrix(), requests); });
    refuses([&] { processor.compute_probs_from_logits(other.matrix(), requests, other.matrix()); });
  };
  const EditHook on_host = [&](RowEdits&) { call_all(); };
  StepRequests requests = step.requests();
  requests.edit_hook = &on_host;
  processor.process(logits.matrix(), requests, outputs, {},
                    [&](const TestType&, const Matrix&) { call_all(); });
  CHECK(refused == 10);
  Kokkos::fence("tokkos::test::processed");
  CHECK(logits.values() == std::vector<float>{0, 1, 0, 0});
  CHECK(other.values() == std::vector<float>(4));
  processor.inplace_update_logits(logits.matrix(), step.requests());
  Kokkos::fence("tokkos::test::updated");
  CHECK(logits.values() == std::vector<float>{0, 2, 0, 0});
}

TEMPLATE_LIST_TEST_CASE("a hook may bias tokens up to the end of the vocabulary and no others",
                        "[engine]", ExecutionSpaces) {
  OwnedStep step;
  step.add({}, {});
  TokenId token = 6;
  const EditHook hook = [&token](tokkos::RowEdits& edits) { edits.add_bias(token, 1.0); };
  StepRequests requests = step.requests();
  requests.edit_hook = &hook;
  Guarded<float, MemoryOf<TestType>> logits(1, 7, 0, {});
  Guarded<float, MemoryOf<TestType>> log_sum_exp(1);
  LogitProcessor<TestType> processor(TestType(), 1, 7, 5);
  processor.inplace_update_logits(logits.matrix(), requests);
  processor.process(logits.matrix(), requests, {.log_sum_exp = log_sum_exp.vector()});
  Kokkos::fence("tokkos::test::updated");
  const std::vector<float> expected = {0, 0, 0, 0, 0, 0, 2};
  CHECK(logits.values() == expected);
  token = 7;
  const Complaint complaint =
      error_of([&] { processor.inplace_update_logits(logits.matrix(), requests); });
  CHECK(complaint.names("edit_hook.token_id"));
  CHECK(complaint.expected == "a token in [0, 7)");
  CHECK(logits.values() == expected);
}

TEMPLATE_LIST_TEST_CASE("a hook that throws leaves everything as it was", "[engine]",
                        ExecutionSpaces) {
  ScriptedGrammar grammar(3, 4);
  OwnedStep step = three_rows();
  step.states[0].mask = &grammar;
  std::int64_t fails_at = 0;
  const EditHook hook = [&fails_at](tokkos::RowEdits& edits) {
    if (edits.row() == fails_at) throw std::runtime_error("as told");
  };
  StepRequests requests = step.requests();
  requests.edit_hook = &hook;
  const std::vector<float> values(12, 2.0f);
  Guarded<float, MemoryOf<TestType>> logits(3, 4, 0, std::span<const float>(values));
  Guarded<float, MemoryOf<TestType>> log_sum_exp(3);
  LogitProcessor<TestType> processor(TestType(), 3, 4);
  for (; fails_at < 3; ++fails_at) {
    CHECK_THROWS_AS(processor.inplace_update_logits(logits.matrix(), requests), std::runtime_error);
    CHECK_THROWS_AS(
        processor.process(logits.matrix(), requests, {.log_sum_exp = log_sum_exp.vector()}),
        std::runtime_error);
    Kokkos::fence("tokkos::test::failed");
    CHECK(logits.values() == values);
    CHECK(grammar.accepted().empty());
    CHECK(grammar.misuses() == 0);
    CHECK(step.histories[0].generated().size() == 1);
  }
  CHECK_NOTHROW(processor.inplace_update_logits(logits.matrix(), requests));
}

TEMPLATE_LIST_TEST_CASE("a hook on the logits runs after the edits and before the mask", "[engine]",
                        Backends) {
  using Logit = typename TestType::logit;
  using Space = typename TestType::execution_space;
  using Memory = typename TestType::memory_space;
  ScriptedGrammar grammar(1, 40);
  OwnedStep step;
  step.add({.logit_bias = {{4, 2.0}}}, {}, &grammar);
  step.add({.logit_bias = {{4, 2.0}, {5, 2.0}}}, {});
  const Space space;
  LogitProcessor<Space> processor(space, 2, 40);
  const std::vector<Logit> ones(80, narrow<Logit>(1.0f));
  Guarded<Logit, Memory> logits(2, 40, 3, std::span<const Logit>(ones));
  Guarded<float, Memory> probabilities(2, 40, 0, {});
  int calls = 0;
  processor.process(logits.matrix(), step.requests(), {.probabilities = probabilities.matrix()}, {},
                    [&](const Space& instance, const Matrix<Logit, Memory>& rows) {
                      ++calls;
                      CHECK(instance == space);
                      CHECK(rows.data() == logits.matrix().data());
                      Kokkos::parallel_for("tokkos::test::double",
                                           Kokkos::RangePolicy<Space>(instance, 0, 2),
                                           DoubleEvenTokens<Logit, Memory>{rows});
                    });
  space.fence("tokkos::test::processed");
  CHECK(calls == 1);
  CHECK(logits.guards_intact());
  const std::vector<Logit> after = logits.values();
  const std::vector<float> p = probabilities.values();
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0.0;
    std::vector<double> weights(40, 0.0);
    for (TokenId token = 0; token < 40; ++token) {
      const bool biased = token == 4 || (token == 5 && row == 1);
      const float edited = (biased ? 3.0f : 1.0f) * (token % 2 == 0 ? 2.0f : 1.0f);
      const auto place = static_cast<std::size_t>(token);
      CHECK(widen(after[row * 40 + place]) == edited);
      if (row == 0 && !grammar.allows({}, token)) continue;
      weights[place] = std::exp(static_cast<double>(edited));
      sum += weights[place];
    }
    for (std::size_t token = 0; token < 40; ++token) {
      CAPTURE(row, token);
      CHECK(std::abs(static_cast<double>(p[row * 40 + token]) - weights[token] / sum) <= 1e-6);
    }
  }
}

}  // namespace tokkos::test
