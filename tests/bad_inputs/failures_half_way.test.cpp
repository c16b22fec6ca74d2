// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// An allocation fails half way, whichever it is: the exception passes on, nothing leaks, nothing is
// written before the first launch, histories and matchers are as they were, and the next step is
// right. On host backends: there memory of Views is allocated as any other, and the host's part of
// a step is the same everywhere.
#include <tokkos/engine/chrome_trace_recorder.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/bad_value_count.hpp"
#include "bad_inputs/fresh_engine.hpp"
#include "bad_inputs/leaks.hpp"

namespace tokkos::test {
namespace {

/// Counts launches while it lives, as a Kokkos tool. One at a time.
class LaunchCount {
 public:
  LaunchCount() {
    s_count = 0;
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](const char*, std::uint32_t, std::uint64_t*) { ++s_count; });
  }
  ~LaunchCount() { Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr); }
  LaunchCount(const LaunchCount&) = delete;
  LaunchCount& operator=(const LaunchCount&) = delete;
  int count() const { return s_count; }

 private:
  static inline int s_count = 0;
};

/// What a call left behind whose n-th allocation failed.
struct Aftermath {
  FailedAllocation failed;  // if there was such an allocation
  bool threw = false;       // and its failure passed on
  bool kept = false;        // histories and matcher are as they were
  bool launched = false;    // something, before it failed; known where a tool is loaded
  bool untouched = false;   // the Views
  bool done = false;        // the Views have what the call writes
  bool next_right = false;  // the next steps have the bits of other objects
  std::int64_t leaked = 0;
};

template <class Space>
using Call = void (FreshEngine<Space>::*)();

/// What a call of objects that were just made writes, and what they were given.
template <class Space>
struct Expected {
  explicit Expected(Call<Space> call) : next{call, &FreshEngine<Space>::process} {
    FreshEngine<Space> engine;
    given = engine.bits();
    (engine.*call)();
    written = engine.bits();
    of_next = engine.results_of(next);
  }

  std::vector<Call<Space>> next;  // calls after the one that fails
  Bits given, written, of_next;
};

template <class Space>
Aftermath fail_at(std::int64_t n, bool has_tool, Call<Space> call,
                  const Expected<Space>& expected) {
  Aftermath result;
  const std::int64_t before = settled_allocations<MemoryOf<Space>>();
  {
    FreshEngine<Space> engine;
    const auto state = engine.given.state();
    {
      std::optional<LaunchCount> tool;
      if (has_tool) tool.emplace();
      fail_allocation(n);
      try {
        (engine.*call)();
      } catch (const std::exception&) {
        result.threw = true;
      }
      result.failed = stop_failing();
      result.launched = has_tool && tool->count() > 0;
    }
    const Bits bits = engine.bits();
    result.kept = engine.given.state() == state;
    result.untouched = bits == expected.given;
    result.done = bits == expected.written;
    result.next_right = engine.results_of(expected.next) == expected.of_next;
  }
  result.leaked = settled_allocations<MemoryOf<Space>>() - before;
  return result;
}

template <class Space>
std::vector<std::pair<std::string, Call<Space>>> calls() {
  using Engine = FreshEngine<Space>;
  return {{"inplace_update_logits", &Engine::update},
          {"compute_probs_from_logits", &Engine::compute},
          {"process", &Engine::process},
          {"prepare and process", &Engine::prepare_and_process},
          {"sample_from_logits", &Engine::sample},
          {"sample_from_probabilities", &Engine::sample_from_probabilities},
          {"verify", &Engine::verify}};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a step whose n-th allocation fails leaves everything usable", "[row-58]",
                        HostSpaces) {
  if (!kokkos_survives_failing_allocations) SKIP("Kokkos's debug mode does not survive this");
  for (const auto& [name, call] : calls<TestType>()) {
    const Expected<TestType> expected(call);
    for (const bool has_tool : {false, true}) {
      fail_at<TestType>(-1, has_tool, call, expected);  // what is made once is made now
      std::int64_t n = 0;
      for (bool failed = true; failed; ++n) {
        const Aftermath found = fail_at<TestType>(n, has_tool, call, expected);
        failed = found.failed.happened;
        CAPTURE(name, has_tool, n, found.leaked, found.failed.lost_by_kokkos, found.launched);
        REQUIRE(found.kept);
        REQUIRE(found.next_right);
        REQUIRE(is_accounted_for(found.leaked, found.failed));
        // Sorting goes on without the room that it would like to have.
        if (!found.threw) REQUIRE(found.done);
        // Memory is had before the first launch.
        if (found.failed.of_view || (found.threw && has_tool && !found.launched)) {
          REQUIRE(found.untouched);
        }
        if (failed) count_bad_value();
      }
      CAPTURE(name, has_tool);
      CHECK(n > 5);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a verification whose n-th allocation fails counts nothing", "[row-58]",
                        HostSpaces) {
  if (!kokkos_survives_failing_allocations) SKIP("Kokkos's debug mode does not survive this");
  const TestType space;
  const Kokkos::View<float**, Kokkos::LayoutRight, TestType> logits("logits", 6, 64);
  const std::vector<DraftTree> trees = {{{0, 0, 0}, {-1, 0, 1}}, {{5}, {-1}}};
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    DraftVerifier<TestType> verifier(space, 6, 64);
    bool threw = false;
    fail_allocation(n);
    try {
      verifier.verify_greedy(logits, trees);
    } catch (const std::exception&) {
      threw = true;
    }
    failed = stop_failing().happened;
    CHECK(verifier.statistics().trees == (threw ? 0 : 2));
    CHECK(verifier.statistics().tried.size() == verifier.statistics().accepted.size());
    verifier.reset_statistics();
    verifier.verify_greedy(logits, trees);
    CHECK(verifier.statistics().tried == std::vector<std::int64_t>{2, 1, 1});
    CHECK(verifier.statistics().accepted == std::vector<std::int64_t>{1, 1, 1});
    if (failed) count_bad_value();
  }
  CHECK(n > 5);
}

TEST_CASE("a trace whose n-th allocation fails goes on after it was cleared") {
  const std::vector<std::string> ids = {std::string(100, 'x'), "second"};
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    ChromeTraceRecorder trace;
    fail_allocation(n);
    try {
      trace.begin("softmax", ids);
      trace.end("softmax", ids);
    } catch (const std::exception&) {
    }
    failed = stop_failing().happened;
    trace.clear();
    CHECK(trace.bytes() < 1000);
    const std::int64_t dropped = trace.dropped_stages();
    trace.begin("sampling", ids);
    trace.end("sampling", ids);
    CHECK(trace.dropped_stages() == dropped);
  }
  CHECK(n > 5);
}

TEMPLATE_LIST_TEST_CASE("objects whose n-th allocation fails are not made and leak nothing",
                        "[row-58]", HostSpaces) {
  if (!kokkos_survives_failing_allocations) SKIP("Kokkos's debug mode does not survive this");
  const TestType space;
  const auto made = [&](std::int64_t n) {
    std::optional<LogitProcessor<TestType>> processor;
    std::optional<Sampler<TestType>> sampler;
    std::optional<DraftVerifier<TestType>> verifier;
    bool threw = false;
    fail_allocation(n);
    try {
      processor.emplace(space, 4, 9000);
      sampler.emplace(space, 4, 9000);
      verifier.emplace(space, 4, 9000);
    } catch (const std::exception&) {
      threw = true;
    }
    return std::pair(stop_failing(), threw);  // before objects go: Kokkos 5.0.2 frees no View then
  };
  made(-1);
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    const std::int64_t before = settled_allocations<MemoryOf<TestType>>();
    const auto [found, threw] = made(n);
    failed = found.happened;
    const std::int64_t leaked = settled_allocations<MemoryOf<TestType>>() - before;
    CAPTURE(n, leaked, found.lost_by_kokkos);
    REQUIRE(failed == threw);
    REQUIRE(is_accounted_for(leaked, found));
    if (failed) count_bad_value();
  }
  CHECK(n > 5);
}

}  // namespace tokkos::test
