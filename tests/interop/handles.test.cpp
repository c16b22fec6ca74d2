// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Handles that are not alive are refused; objects may end in any order; threads are independent.
#include <tokkos/tokkos.h>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "interop/c_step.hpp"
#include "interop/last_complaint.hpp"
#include "interop/step_results.hpp"
#include "threads/two_threads.hpp"

namespace tokkos::test {

TEST_CASE("an object that was destroyed is refused, and not destroyed again", "[interop]") {
  tokkos_history* history = nullptr;
  check_ok(tokkos_history_create(nullptr, 0, &history));
  check_ok(tokkos_history_destroy(history));
  const Complaint again = complaint_of(tokkos_history_destroy(history));
  CHECK(again.message == "history is not alive, expected one that was created and not destroyed");
  CHECK(tokkos_history_commit(history, 1) == TOKKOS_ERROR_INVALID_HANDLE);
  check_ok(tokkos_history_destroy(nullptr));
}

TEST_CASE("an object of another kind, or no object, is refused", "[interop]") {
  History history;
  check_ok(tokkos_history_create(nullptr, 0, history.put()));
  auto* const wrong = reinterpret_cast<tokkos_mask*>(history.get());
  CHECK(complaint_of(tokkos_mask_accept(wrong, 1)).value == "an object of another kind");
  CHECK(tokkos_mask_destroy(wrong) == TOKKOS_ERROR_INVALID_HANDLE);
  const auto refuses = [](tokkos_status status) {
    CHECK(complaint_of(status).value == "an object of another kind");
  };
  void* const other = history.get();
  refuses(tokkos_context_destroy(static_cast<tokkos_context*>(other)));
  refuses(tokkos_processor_destroy(static_cast<tokkos_processor*>(other)));
  refuses(tokkos_sampler_destroy(static_cast<tokkos_sampler*>(other)));
  refuses(tokkos_scorer_destroy(static_cast<tokkos_scorer*>(other)));
  refuses(tokkos_verifier_destroy(static_cast<tokkos_verifier*>(other)));
  refuses(tokkos_verified_destroy(static_cast<tokkos_verified*>(other)));
  auto* const wild = reinterpret_cast<tokkos_history*>(std::uintptr_t{0x12345});
  CHECK(complaint_of(tokkos_history_commit(wild, 1)).value == "not alive");
  check_ok(tokkos_history_commit(history.get(), 1));
}

TEST_CASE("a scorer that is none is refused, and works on after its context is gone", "[interop]") {
  Context context = context_on<Kokkos::Serial>();
  const tokkos_limits limits = limits_of(1, 8);
  tokkos_scorer* scorer = nullptr;
  check_ok(tokkos_scorer_create(context.get(), &limits, &scorer));
  const SamplerOfC sampler = sampler_on(context, limits);
  check_ok(tokkos_context_destroy(context.get()));
  *context.put() = nullptr;
  std::array<float, 8> memory{};
  float sum = -7.0f;
  const tokkos_array logits = tokkos_matrix(memory.data(), TOKKOS_FLOAT32, 1, 8, 0);
  const tokkos_array sums = tokkos_vector(&sum, TOKKOS_FLOAT32, 1);
  tokkos_score score = tokkos_score_default();
  score.log_sum_exp = &sums;
  const auto refused = [&](tokkos_scorer* handle) {
    const tokkos_status status = tokkos_scorer_score(handle, &logits, &score);
    CHECK(status == TOKKOS_ERROR_INVALID_HANDLE);
    CHECK(sum == -7.0f);
    return complaint_of(status);
  };
  CHECK(refused(nullptr).message == "scorer is null, expected an object");
  auto* const other = reinterpret_cast<tokkos_scorer*>(sampler.get());
  CHECK(refused(other).value == "an object of another kind");
  CHECK(refused(reinterpret_cast<tokkos_scorer*>(&sum)).value == "not alive");
  check_ok(tokkos_scorer_score(scorer, &logits, &score));
  CHECK(std::fabs(sum - std::log(8.0f)) < 1e-6f);
  sum = -7.0f;
  check_ok(tokkos_scorer_destroy(scorer));
  CHECK(refused(scorer).value == "not alive");
  CHECK(tokkos_scorer_destroy(scorer) == TOKKOS_ERROR_INVALID_HANDLE);
  check_ok(tokkos_scorer_destroy(nullptr));
}

TEST_CASE("a destroyed history or mask of a step is refused by its request", "[interop]") {
  Context context = context_on<Kokkos::Serial>();
  const Processor processor = processor_on(context, limits_of(1, 8));
  tokkos_history* history = nullptr;
  check_ok(tokkos_history_create(nullptr, 0, &history));
  check_ok(tokkos_history_destroy(history));
  tokkos_request request = tokkos_request_default();
  request.history = history;
  tokkos_step step = tokkos_step_default();
  step.requests = &request;
  step.request_count = 1;
  const tokkos_status status = tokkos_processor_prepare(processor.get(), 1, &step, nullptr);
  CHECK(status == TOKKOS_ERROR_INVALID_HANDLE);
  CHECK(complaint_of(status).field == "requests[0].history");
}

TEST_CASE("a processor works on after its context is gone", "[interop]") {
  Context context = context_on<Kokkos::Serial>();
  const Processor processor = processor_on(context, limits_of(1, 8));
  check_ok(tokkos_context_destroy(context.get()));
  *context.put() = nullptr;
  std::array<float, 8> logits{0, 0, 9, 0, 0, 0, 0, 0};
  std::int32_t token = -1;
  float uniform = 0.5f;
  tokkos_request request = tokkos_request_default();
  tokkos_step step = tokkos_step_default();
  step.requests = &request;
  step.request_count = 1;
  tokkos_step_options options = tokkos_step_options_default();
  options.uniforms = &uniform;
  options.uniform_count = 1;
  const tokkos_array rows = tokkos_matrix(logits.data(), TOKKOS_FLOAT32, 1, 8, 0);
  const tokkos_array tokens = tokkos_vector(&token, TOKKOS_INT32, 1);
  tokkos_step_outputs outputs = tokkos_step_outputs_default();
  outputs.tokens = &tokens;
  check_ok(tokkos_processor_process(processor.get(), &rows, &step, &outputs, &options, nullptr));
  CHECK(token == 2);
}

TEST_CASE("Kokkos was started by whoever was first", "[interop]") {
  const Context context = context_on<Kokkos::Serial>();
  // This program has initialized its own; a library that carries one had to start that.
  CHECK(tokkos_started_kokkos() == tokkos_carries_kokkos());
  if (tokkos_carries_kokkos() == 0) {
    check_ok(tokkos_finalize());  // nothing to do: it is not ours
    CHECK(Kokkos::is_initialized());
  }
}

TEST_CASE("errors belong to the thread that they happened on", "[interop][threads]") {
  CHECK(tokkos_context_fence(nullptr) == TOKKOS_ERROR_INVALID_HANDLE);
  const std::string own = tokkos_last_error();
  std::string before = "?", after;
  std::jthread([&] {
    before = tokkos_last_error();
    tokkos_history_commit(nullptr, 1);
    after = tokkos_last_error();
  }).join();
  CHECK(before.empty());
  CHECK(after == "history is null, expected an object");
  CHECK(tokkos_last_error() == own);
}

TEMPLATE_LIST_TEST_CASE("two threads on one context get the bits that each gets alone",
                        "[interop][threads]", ExecutionSpaces) {
  using Results = StepResults<MemoryOf<TestType>, float>;
  const Context context = context_on<TestType>();
  const auto run = [&](std::uint64_t seed) {
    Bits bits;
    const Processor processor = processor_on(context, limits_of(64, 4500));
    for (std::uint64_t i = 0; i < 3; ++i) {
      const auto given = make_truncated_step(4500, seed + i);
      const StepOfC step(given->step);
      const Results results(static_cast<std::size_t>(given->rows), 4500, seed + i);
      const OutputsOfC outputs = results.outputs_of_c();
      const tokkos_array logits = array_of(results.logits.matrix());
      check_ok(tokkos_processor_process(processor.get(), &logits, step.get(), outputs.get(),
                                        nullptr, nullptr));
      check_ok(tokkos_context_fence(context.get()));
      for (const std::uint32_t word : results.bits()) bits.push_back(word);
    }
    return bits;
  };
  const std::array<Bits, 2> alone{run(31), run(57)};
  const std::array<std::uint64_t, 2> seeds{31, 57};
  const auto together = run_together([&](std::size_t i) { return run(seeds[i]); });
  CHECK_FALSE(alone[0].empty());
  CHECK((together == alone));
}

}  // namespace tokkos::test
