// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// An allocation, or a call of a matcher, fails half way, whichever it is: the exception passes on,
// nothing leaks, and nothing is written before the first launch; histories and matchers are as they
// were, and the next step is right.
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>
#include <tokkos/kernels/workspace.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/bad_value_count.hpp"
#include "bad_inputs/failing_allocations.hpp"
#include "bad_inputs/step_bench.hpp"

namespace tokkos::test {
namespace {

const std::vector<DraftTree> trees{{{3, 4, 5}, {-1, -1, 0}}, {}, {{6, 7}, {-1, 0}}};

/// Objects that were just made, with the step and the Views that they are given.
template <class Space>
struct FreshEngine {
  using Memory = MemoryOf<Space>;
  static constexpr std::int64_t vocabulary = ThreeRequests::vocabulary;
  static constexpr std::size_t nodes = 8;

  Space space;
  LogitProcessor<Space> processor{space, 12, vocabulary};
  Sampler<Space> sampler{space, 12, vocabulary};
  DraftVerifier<Space> verifier{space, nodes, vocabulary};
  ThreeRequests given;
  StepRequests requests = given.step.requests();
  BenchViews<Memory> views{ThreeRequests::logits(), 0};
  Guarded<float, Memory> model{nodes, vocabulary, 0, std::vector<float>(nodes* vocabulary, 0.01f)};

  void update() {
    processor.inplace_update_logits(views.logits.matrix(), requests, views.status.vector());
  }
  void compute() {
    processor.compute_probs_from_logits(views.logits.matrix(), requests,
                                        views.probabilities.matrix(), views.status.vector());
  }
  void process() { processor.process(views.logits.matrix(), requests, views.outputs()); }
  void prepare_and_process() {
    processor.prepare(ThreeRequests::rows, requests);
    processor.process(views.logits.matrix(), views.outputs());
  }
  void sample() {
    sampler.sample_from_logits(views.logits.matrix(), requests, views.tokens.vector());
  }
  void sample_from_probabilities() {
    const std::vector<float> uniforms(nodes, 0.5f);
    const Matrix<const float, Memory> rows(
        model.matrix().data(),
        Kokkos::LayoutStride(ThreeRequests::rows, vocabulary, vocabulary, 1));
    sampler.sample_from_probabilities(rows, std::span(uniforms).first(ThreeRequests::rows),
                                      views.tokens.vector());
  }
  std::vector<VerifiedDraft> verify() {
    const VerifyUniforms uniforms{std::vector<float>(nodes, 0.5f), std::vector<float>(3, 0.5f)};
    return verifier.verify(model.matrix(), {}, trees, uniforms);
  }

  /// What all calls make of the logits as they were at first.
  Bits results() {
    Bits all;
    for (void (FreshEngine::*step)() :
         {&FreshEngine::process, &FreshEngine::prepare_and_process, &FreshEngine::update,
          &FreshEngine::compute, &FreshEngine::sample, &FreshEngine::sample_from_probabilities}) {
      views = BenchViews<Memory>(ThreeRequests::logits(), 0);
      (this->*step)();
      space.fence("tokkos::test::step");
      const Bits bits = views.bits();
      all.insert(all.end(), bits.begin(), bits.end());
    }
    for (const VerifiedDraft& draft : verify()) append(all, draft.tokens);
    return all;
  }
};

/// Counts launches while it lives. One at a time.
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
  bool launched = false;    // something, before it failed
  bool untouched = false;   // the Views
  bool done = false;        // the Views have what the call writes
  bool next_right = false;  // the next steps have the bits of other objects
  std::int64_t leaked = 0;
};

/// Allocations that are not given back. What the library notes of an object that is gone, it drops
/// when the next one is made.
template <class Memory>
std::int64_t settled_allocations() {
  { const Workspace<Memory> next(1, 1); }
  return live_allocations();
}

/// Whether nothing leaked, or one View that Kokkos lost: its record, its memory and their labels.
/// It loses one as well where a launch fails: it counts no owners while it makes one.
bool is_lost_view(std::int64_t leaked, bool in_kokkos) {
  return leaked == 0 || (in_kokkos && leaked <= 4);
}

/// What a call writes.
template <class Space, class Call>
Bits written_by(const Call& call) {
  FreshEngine<Space> engine;
  call(engine);
  engine.space.fence("tokkos::test::written");
  return engine.views.bits();
}

template <class Space, class Call>
Aftermath fail_at(std::int64_t n, const Call& call, const Bits& of_call, const Bits& expected) {
  Aftermath result;
  const std::int64_t before = settled_allocations<MemoryOf<Space>>();
  {
    FreshEngine<Space> engine;
    const auto state = engine.given.state();
    const Bits untouched = engine.views.bits();
    const LaunchCount launches;
    fail_allocation(n);
    try {
      call(engine);
    } catch (const std::exception&) {
      result.threw = true;
    }
    result.failed = stop_failing();
    result.launched = launches.count() > 0;
    engine.space.fence("tokkos::test::failed");
    result.kept = engine.given.state() == state;
    result.untouched = engine.views.bits() == untouched;
    result.done = engine.views.bits() == of_call;
    result.next_right = engine.results() == expected;
  }
  result.leaked = settled_allocations<MemoryOf<Space>>() - before;
  return result;
}

template <class Space>
using Calls = std::vector<std::pair<std::string, std::function<void(FreshEngine<Space>&)>>>;

template <class Space>
Calls<Space> calls() {
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
                        ExecutionSpaces) {
  using Engine = FreshEngine<TestType>;
  const Bits expected = Engine().results();
  const auto nothing = [](Engine&) {};
  fail_at<TestType>(-1, nothing, {}, expected);  // what is made once is made now
  for (const auto& [name, call] : calls<TestType>()) {
    const Bits of_call = written_by<TestType>(call);
    std::int64_t n = 0;
    for (;; ++n) {
      const Aftermath found = fail_at<TestType>(n, call, of_call, expected);
      CAPTURE(name, n, found.leaked, found.failed.behind_view);
      REQUIRE(found.kept);
      REQUIRE(found.next_right);
      REQUIRE(is_lost_view(found.leaked, found.failed.behind_view || found.launched));
      // Sorting goes on without the room that it would like to have.
      if (!found.threw) REQUIRE(found.done);
      // Tokkos itself allocates nothing once it launches; Kokkos copies labels.
      if (found.threw && !found.launched) REQUIRE(found.untouched);
      if (!found.failed.happened) break;
      count_bad_value();
    }
    CAPTURE(name);
    CHECK(n > 0);
  }
}

TEMPLATE_LIST_TEST_CASE("objects whose n-th allocation fails are not made and leak nothing",
                        "[row-58]", ExecutionSpaces) {
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
  for (;; ++n) {
    const std::int64_t before = settled_allocations<MemoryOf<TestType>>();
    const auto [failed, threw] = made(n);
    const std::int64_t leaked = settled_allocations<MemoryOf<TestType>>() - before;
    CAPTURE(n, leaked);
    REQUIRE(failed.happened == threw);
    REQUIRE(is_lost_view(leaked, failed.behind_view));
    if (!failed.happened) break;
    count_bad_value();
  }
  CHECK(n > 5);
}

TEMPLATE_LIST_TEST_CASE("a matcher that throws at its n-th call leaves everything usable",
                        "[row-58]", ExecutionSpaces) {
  using Engine = FreshEngine<TestType>;
  const Bits expected = Engine().results();
  const auto all = calls<TestType>();
  for (const std::string name : {"inplace_update_logits", "process", "prepare and process"}) {
    int n = 0;
    for (bool threw = true; threw; ++n) {
      CAPTURE(name, n);
      Engine engine;
      const auto state = engine.given.state();
      const Bits untouched = engine.views.bits();
      engine.given.grammar.throw_at(n);
      threw = false;
      try {
        for (const auto& [other, call] : all) {
          if (other == name) call(engine);
        }
      } catch (const GrammarFailure&) {
        threw = true;
      }
      engine.given.grammar.throw_at(-1);
      engine.space.fence("tokkos::test::failed");
      CHECK(engine.given.state() == state);
      if (threw) CHECK(engine.views.bits() == untouched);
      CHECK(engine.results() == expected);
      count_bad_value();
    }
    CHECK(n > 5);
  }
}

TEST_CASE("a history that cannot grow stays as it was", "[row-58]") {
  const VerifiedDraft verified{{0, 1}, {5, 200, 5, 9}, 9, 0};
  std::int64_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    ThreeRequests given;
    ScriptedGrammar free(1, 1000, false);
    TokenHistory& history = given.step.histories[0];
    const auto state = given.state();
    bool threw = false;
    fail_allocation(n);
    try {
      commit(verified, history, &free);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    failed = stop_failing().happened;
    CHECK(threw == failed);
    if (!failed) continue;
    CHECK(given.state() == state);
    CHECK(free.accepted().empty());
    CHECK(history.count(5) == 0);
    CHECK(history.in_prompt(5));
    CHECK(history.count(8) == 2);
    commit(verified, history, &free);
    CHECK(history.count(5) == 2);
    CHECK(free.accepted() == verified.tokens);
    count_bad_value();
  }
  CHECK(n > 3);
}

}  // namespace tokkos::test
