// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// An allocation fails in a call of C, whichever it is: a status, nothing lost, and the next call is
// right.
#include <tokkos/tokkos.h>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bad_inputs/leaks.hpp"
#include "interop/c_step.hpp"
#include "interop/step_results.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 300;

/// What a call with a failing allocation came to.
struct Attempt {
  tokkos_status status = TOKKOS_OK;
  FailedAllocation failed;
};

template <class Call>
Attempt attempt(std::int64_t n, Call&& call) {
  Attempt made;
  fail_allocation(n);
  made.status = call();
  made.failed = stop_failing();
  return made;
}

/// Whether a status is one for an allocation that failed, in the library or in a callback.
bool is_of_memory(tokkos_status status) {
  return status == TOKKOS_ERROR_OUT_OF_MEMORY || status == TOKKOS_ERROR_CALLBACK;
}

/// What a step reads and writes, and the arrays of C that say so.
template <class Space>
struct Arrays {
  explicit Arrays(std::size_t rows) : results(rows, vocabulary, 7) {}

  StepResults<typename Space::memory_space, float> results;
  OutputsOfC outputs = results.outputs_of_c();
  tokkos_array logits = array_of(results.logits.matrix());
};

/// A step through C, with objects that were just made.
template <class Space>
class Calls {
 public:
  using Arrays = test::Arrays<Space>;

  Arrays arrays() const { return Arrays(static_cast<std::size_t>(m_given->rows)); }
  Snapshot snapshot() const { return Snapshot(*m_given); }

  tokkos_status process(const Arrays& to) const {
    return tokkos_processor_process(m_processor.get(), &to.logits, m_step.get(), to.outputs.get(),
                                    nullptr, nullptr);
  }
  tokkos_status in_two_halves(const Arrays& to) const {
    const tokkos_status prepared =
        tokkos_processor_prepare(m_processor.get(), m_given->rows, m_step.get(), nullptr);
    if (prepared != TOKKOS_OK) return prepared;
    return tokkos_processor_process_prepared(m_processor.get(), &to.logits, to.outputs.get(),
                                             nullptr);
  }
  tokkos_status one_by_one(const Arrays& to) const {
    const tokkos_step_outputs& outputs = *to.outputs.get();
    tokkos_status worked = tokkos_processor_update_logits(m_processor.get(), &to.logits,
                                                          m_step.get(), outputs.row_status);
    if (worked != TOKKOS_OK) return worked;
    worked = tokkos_sampler_sample_logits(m_sampler.get(), &to.logits, m_step.get(), outputs.tokens,
                                          nullptr, outputs.row_status);
    if (worked != TOKKOS_OK) return worked;
    return tokkos_processor_compute_probabilities(m_processor.get(), &to.logits, m_step.get(),
                                                  outputs.probabilities, outputs.row_status);
  }

 private:
  std::unique_ptr<RandomStep> m_given = make_truncated_step(vocabulary, 11);
  StepOfC m_step{m_given->step};
  Context m_context = context_on<Space>();
  Processor m_processor = processor_on(m_context, limits_of(64, vocabulary));
  SamplerOfC m_sampler = sampler_on(m_context, limits_of(64, vocabulary));
};

template <class Space>
using StepCall = tokkos_status (Calls<Space>::*)(const Arrays<Space>&) const;

/// Allocations that are not given back. What the library notes of an object that is gone, it drops
/// when the next one is made.
template <class Space>
std::int64_t settled() {
  const Context context = context_on<Space>();
  { const Processor next = processor_on(context, limits_of(1, 1)); }
  return settled_allocations<MemoryOf<Space>>();
}

std::vector<std::int32_t> generated(const History& history) {
  const std::int32_t* tokens = nullptr;
  std::size_t count = 0;
  check_ok(tokkos_history_generated(history.get(), &tokens, &count));
  return {tokens, tokens + count};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a step of C whose n-th allocation fails leaves everything usable",
                        "[interop]", HostSpaces) {
  if (!kokkos_survives_failing_allocations) SKIP("Kokkos's debug mode does not survive this");
  using Step = Calls<TestType>;
  const auto call =
      GENERATE(StepCall<TestType>(&Step::process), &Step::in_two_halves, &Step::one_by_one);
  const Step whole;
  const auto expected = whole.arrays();
  const Bits given = expected.results.bits();
  check_ok((whole.*call)(expected));
  const Bits written = expected.results.bits();
  // What the n-th failing allocation leaks.
  const auto fail = [&](std::int64_t n) -> std::pair<FailedAllocation, std::int64_t> {
    const std::int64_t before = settled<TestType>();
    FailedAllocation lost;
    {
      const Step step;
      const auto found = step.arrays(), next = step.arrays();
      const Snapshot snapshot = step.snapshot();
      const Attempt made = attempt(n, [&] { return (step.*call)(found); });
      lost = made.failed;
      CAPTURE(n, made.status, tokkos_last_error());
      REQUIRE((made.status == TOKKOS_OK || (lost.happened && is_of_memory(made.status))));
      // Sorting goes on without the room that it would like to have.
      if (made.status == TOKKOS_OK) REQUIRE((found.results.bits() == written));
      // Of several calls the first ones may have written.
      const bool is_first = call != StepCall<TestType>(&Step::one_by_one) && lost.of_view;
      if (is_first || n == 0) REQUIRE((found.results.bits() == given));
      REQUIRE(step.snapshot() == snapshot);
      REQUIRE((step.*call)(next) == TOKKOS_OK);
      REQUIRE((next.results.bits() == written));
    }
    return {lost, settled<TestType>() - before};
  };
  fail(0);  // what is made once is made now
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    const auto [lost, leaked] = fail(n);
    failed = lost.happened;
    CAPTURE(n, leaked, lost.lost_by_kokkos);
    REQUIRE(is_accounted_for(leaked, lost));
  }
  CHECK(n > 20);
}

TEMPLATE_LIST_TEST_CASE("an object of C whose n-th allocation fails is not made and leaks nothing",
                        "[interop]", HostSpaces) {
  if (!kokkos_survives_failing_allocations) SKIP("Kokkos's debug mode does not survive this");
  const Context context = context_on<TestType>();
  const tokkos_limits limits = limits_of(4, vocabulary);
  const std::array<std::int32_t, 3> prompt{1, 2, 3};
  const tokkos_mask_callbacks callbacks = [] {
    tokkos_mask_callbacks made = tokkos_mask_callbacks_default();
    made.fill = [](void*, std::int32_t*, std::size_t) { return 0; };
    made.accept = [](void*, std::int32_t) { return 1; };
    made.rollback = [](void*, std::int32_t) { return 0; };
    return made;
  }();
  const auto made = [&](int kind, std::int64_t n) {
    Context other;
    Processor processor;
    SamplerOfC sampler;
    Scorer scorer;
    Verifier verifier;
    VerifiedOfC verified;
    History history;
    Mask mask;
    tokkos_context_options options = tokkos_context_options_default();
    options.backend = backend_of<TestType>();
    const auto create = [&]() -> std::pair<tokkos_status, bool> {
      switch (kind) {
        case 0:
          return {tokkos_context_create(&options, other.put()), other.get() != nullptr};
        case 1:
          return {tokkos_processor_create(context.get(), &limits, processor.put()),
                  processor.get() != nullptr};
        case 2:
          return {tokkos_sampler_create(context.get(), &limits, sampler.put()),
                  sampler.get() != nullptr};
        case 3:
          return {tokkos_verifier_create(context.get(), &limits, verifier.put()),
                  verifier.get() != nullptr};
        case 4:
          return {tokkos_verified_create(verified.put()), verified.get() != nullptr};
        case 5:
          return {tokkos_history_create(prompt.data(), prompt.size(), history.put()),
                  history.get() != nullptr};
        case 6:
          return {tokkos_scorer_create(context.get(), &limits, scorer.put()),
                  scorer.get() != nullptr};
        default:
          return {tokkos_mask_create(&callbacks, mask.put()), mask.get() != nullptr};
      }
    };
    bool is_there = false;
    const Attempt tried = attempt(n, [&] {
      const auto [status, has_one] = create();
      is_there = has_one;
      return status;
    });
    CHECK(is_there == (tried.status == TOKKOS_OK));
    return tried;
  };
  const int kind = GENERATE(0, 1, 2, 3, 4, 5, 6, 7);
  REQUIRE(made(kind, -1).status == TOKKOS_OK);
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    const std::int64_t before = settled<TestType>();
    const Attempt tried = made(kind, n);
    failed = tried.failed.happened;
    const std::int64_t leaked = settled<TestType>() - before;
    CAPTURE(kind, n, leaked, tried.failed.lost_by_kokkos, tokkos_last_error());
    REQUIRE(tried.status == (failed ? TOKKOS_ERROR_OUT_OF_MEMORY : TOKKOS_OK));
    REQUIRE(is_accounted_for(leaked, tried.failed));
  }
  CHECK(n > 1);
}

TEST_CASE("a commit of C whose n-th allocation fails commits nothing", "[interop]") {
  const std::array<std::int32_t, 40> tokens{5, 6, 7, 8};
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    History history;
    check_ok(tokkos_history_create(tokens.data(), 2, history.put()));
    check_ok(tokkos_history_commit(history.get(), 9));
    const Attempt made = attempt(
        n, [&] { return tokkos_commit(history.get(), nullptr, tokens.data(), tokens.size()); });
    failed = made.failed.happened;
    CAPTURE(n);
    REQUIRE(made.status == (failed ? TOKKOS_ERROR_OUT_OF_MEMORY : TOKKOS_OK));
    if (failed) REQUIRE(generated(history) == std::vector<std::int32_t>{9});
    if (failed) check_ok(tokkos_commit(history.get(), nullptr, tokens.data(), tokens.size()));
    REQUIRE(generated(history).size() == 41);
  }
  CHECK(n > 1);
}

}  // namespace tokkos::test
