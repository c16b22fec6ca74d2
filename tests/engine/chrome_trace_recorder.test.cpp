// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The JSON is held against the rules of the Trace Event Format, whose readers are chrome://tracing
// and Perfetto.
#include <tokkos/engine/chrome_trace_recorder.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstddef>
#include <latch>
#include <locale>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "engine/host_allocations.hpp"
#include "engine/random_step.hpp"
#include "engine/read_trace.hpp"
#include "engine/recorded_stage.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

class Grouping : public std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\1"; }
};

}  // namespace

TEST_CASE("a trace has a track for each request and its stages nest there", "[engine]") {
  ChromeTraceRecorder recorder;
  const Trace nothing = read_trace(recorder.json());
  CHECK((nothing.tracks.empty() && nothing.stages.empty()));
  record(recorder, "update logits", {"a", "b"}, [&] { record(recorder, "apply penalty", {"b"}); });
  record(recorder, "softmax", {"b"});
  record(recorder, "sampling", {});
  const Trace trace = read_trace(recorder.json());
  CHECK(trace.stages_of("a") == Ids{"update logits"});
  CHECK(trace.stages_of("b") == Ids{"update logits", "update logits/apply penalty", "softmax"});
  CHECK(trace.stages_of("no request") == Ids{"sampling"});
  CHECK(trace.tracks.size() == 3);
  CHECK(trace.dropped_stages == 0);
}

TEST_CASE("times are microseconds that pass between begin and end", "[engine]") {
  const auto before = std::chrono::steady_clock::now();
  ChromeTraceRecorder recorder;
  record(recorder, "softmax", {"a"},
         [] { std::this_thread::sleep_for(std::chrono::milliseconds(3)); });
  const std::chrono::duration<double, std::micro> most = std::chrono::steady_clock::now() - before;
  const Trace trace = read_trace(recorder.json());
  REQUIRE(trace.stages.size() == 1);
  CHECK(trace.stages[0].begin >= 0);
  CHECK(trace.stages[0].end - trace.stages[0].begin >= 3000);
  CHECK(trace.stages[0].end <= most.count());
}

TEST_CASE("any bytes may be a request id", "[engine]") {
  std::string bytes;
  for (int byte = 0; byte < 128; ++byte) bytes += static_cast<char>(byte);
  const std::string replaced = "\uFFFD";
  // Not UTF-8: a lone continuation, an overlong slash, a surrogate, past U+10FFFF, cut off.
  const std::vector<std::pair<std::string, std::string>> cases = {
      {bytes, bytes},
      {"\"\\/\b\f\n\r\t\"\\", "\"\\/\b\f\n\r\t\"\\"},
      {"\u00e4\u20ac\U0001F600\uFFFF\U0010FFFF", "\u00e4\u20ac\U0001F600\uFFFF\U0010FFFF"},
      {"a\x80z", "a" + replaced + "z"},
      {"\xC0\xAF", replaced + replaced},
      {"\xE0\x9F\xBF", replaced + replaced + replaced},
      {"\xED\xA0\x80", replaced + replaced + replaced},
      {"\xF0\x8F\xBF\xBF", replaced + replaced + replaced + replaced},
      {"\xF4\x90\x80\x80", replaced + replaced + replaced + replaced},
      {"\xF5\xFF", replaced + replaced},
      {"\xE2\x82", replaced + replaced},
      {"\xE2\x82\"", replaced + replaced + "\""},
      {"", ""},
  };
  for (const auto& [id, expected] : cases) {
    ChromeTraceRecorder recorder;
    record(recorder, "a \"quoted\" \\ stage", {id});
    const Trace trace = read_trace(recorder.json());
    CHECK(trace.stages_of(expected) == Ids{"a \"quoted\" \\ stage"});
  }
}

TEST_CASE("a trace is the same text in any locale", "[engine]") {
  ChromeTraceRecorder recorder;
  for (int i = 0; i < 2000; ++i) record(recorder, "softmax", {std::to_string(i)});
  std::ostringstream plain, grouping;
  grouping.imbue(std::locale(std::locale::classic(), new Grouping));
  recorder.write(plain);
  recorder.write(grouping);
  CHECK(plain.str() == grouping.str());
  CHECK(plain.str() == recorder.json());
  CHECK(read_trace(plain.str()).stages.size() == 2000);
}

TEST_CASE("stages that are open when a trace is written end there", "[engine]") {
  ChromeTraceRecorder recorder;
  record(recorder, "update logits", {"a"}, [&] {
    record(recorder, "apply penalty", {"a", "a"}, [&] {
      CHECK(read_trace(recorder.json()).stages_of("a") ==
            Ids{"update logits", "update logits/apply penalty",
                "update logits/apply penalty/apply penalty"});
    });
  });
  CHECK(read_trace(recorder.json()).stages.size() == 3);
  const Ids unknown = {"a", "b"};
  recorder.end("softmax", unknown);  // never begun
  recorder.end("softmax", {});
  CHECK(read_trace(recorder.json()).stages.size() == 3);
}

TEST_CASE("a request that two threads work on has a track for each", "[engine]") {
  ChromeTraceRecorder recorder;
  record(recorder, "draft verification", {"a"}, [&] {
    std::jthread([&] { record(recorder, "softmax", {"a"}); });
    record(recorder, "sampling", {"a"});
  });
  std::jthread([&] { record(recorder, "update logits", {"a"}); });  // after the other: no new track
  const Trace trace = read_trace(recorder.json());
  CHECK(trace.tracks.size() == 2);
  std::multiset<std::string> paths;
  for (const std::string& path : trace.stages_of("a")) paths.insert(path);
  CHECK(paths == std::multiset<std::string>{"draft verification", "draft verification/sampling",
                                            "softmax", "update logits"});
}

TEST_CASE("threads share a recorder", "[engine]") {
  ChromeTraceRecorder recorder;
  constexpr std::size_t threads = 4, rounds = 1500;
  std::latch all_started(threads);
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&recorder, &all_started, i] {
        all_started.arrive_and_wait();
        const Ids ids = {"shared", "own " + std::to_string(i)};
        for (std::size_t round = 0; round < rounds; ++round) {
          record(recorder, "update logits", ids, [&] { record(recorder, "softmax", ids); });
          if (round % 500 == 0) static_cast<void>(recorder.json());
        }
      });
    }
  }
  const Trace trace = read_trace(recorder.json());
  CHECK(trace.stages_of("shared").size() == 2 * rounds * threads);
  for (std::size_t i = 0; i < threads; ++i) {
    const Ids own = trace.stages_of("own " + std::to_string(i));
    REQUIRE(own.size() == 2 * rounds);
    CHECK(own[1] == "update logits/softmax");
  }
  CHECK(trace.tracks.size() <= 2 * threads);
}

TEST_CASE("without a recorder a stage allocates nothing", "[engine]") {
  const Ids ids(8, std::string(100, 'x'));
  forget_host_allocations();
  { const TracedStage stage(nullptr, "renormalization by top p", ids); }
  const std::size_t without = largest_host_allocation();
  CHECK(without == 0);
  ChromeTraceRecorder recorder;
  { const TracedStage stage(&recorder, "renormalization by top p", ids); }
  CHECK(largest_host_allocation() > 0);
}

TEMPLATE_LIST_TEST_CASE("the stages of steps become a trace", "[engine]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  RandomStep step = make_random_step_with_histories(64, 64, 5);
  for (GenerationConfig& config : step.step.configs) config.top_p = 0.9f;
  const auto rows = static_cast<std::size_t>(step.rows);
  const Guarded<float, MemorySpace> logits(rows, 64, 0, {}), probabilities(rows, 64, 0, {});
  const Guarded<TokenId, MemorySpace> tokens(rows);
  const StepRequests requests = step.step.requests();
  ChromeTraceRecorder recorder;
  LogitProcessor<TestType> processor(TestType(), step.rows, 64, {}, &recorder);
  Sampler<TestType> sampler(TestType(), step.rows, 64, {}, &recorder);
  processor.inplace_update_logits(logits.matrix(), requests);
  sampler.sample_from_logits(logits.matrix(), requests, tokens.vector());
  const Ids apart = {"update logits",
                     "update logits/apply penalty",  // on the host
                     "update logits/apply logit bias",
                     "update logits/apply logit mask",
                     "update logits/apply logit bias",
                     "update logits/apply penalty",
                     "update logits/apply logit mask",
                     "sampling",
                     "sampling/softmax",
                     "sampling/renormalization by top p"};
  Trace trace = read_trace(recorder.json());
  REQUIRE(trace.tracks.size() == step.step.ids.size());
  for (const std::string& id : step.step.ids) CHECK(trace.stages_of(id) == apart);

  recorder.clear();
  processor.prepare(step.rows, requests, {.store_mask = true});
  processor.process(logits.matrix(),
                    {.probabilities = probabilities.matrix(), .tokens = tokens.vector()});
  const Ids together = {"update logits",
                        "update logits/apply penalty",  // on the host
                        "update logits/apply logit bias",
                        "update logits/apply logit mask",
                        "update logits",
                        "update logits/apply logit bias",
                        "update logits/apply logit bias/apply penalty",
                        "update logits/apply logit mask",
                        "softmax",
                        "renormalization by top p",
                        "sampling",
                        "softmax"};
  trace = read_trace(recorder.json());
  for (const std::string& id : step.step.ids) CHECK(trace.stages_of(id) == together);
  CHECK(trace.dropped_stages == 0);
}

}  // namespace tokkos::test
