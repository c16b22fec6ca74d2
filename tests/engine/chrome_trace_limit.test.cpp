// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/engine/chrome_trace_recorder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <string>

#include "engine/read_trace.hpp"
#include "engine/recorded_stage.hpp"

namespace tokkos::test {

TEST_CASE("a trace keeps to its limit and leaves out whole stages", "[engine]") {
  for (std::size_t limit = 0; limit < 3000; limit += 7) {
    CAPTURE(limit);
    ChromeTraceRecorder recorder(limit);
    for (int i = 0; i < 40; ++i) {
      record(recorder, "update logits", {"a", std::to_string(i % 20)}, [&] {
        record(recorder, "softmax", {"a"}, [&] { record(recorder, "sampling", {}); });
        REQUIRE(recorder.bytes() <= limit);
      });
    }
    const Trace trace = read_trace(recorder.json());
    REQUIRE(trace.dropped_stages == recorder.dropped_stages());
    REQUIRE(trace.stages.size() + static_cast<std::size_t>(trace.dropped_stages) == 160);
    REQUIRE(trace.dropped_stages > 0);
    REQUIRE(recorder.bytes() + 200 > limit);
  }
  ChromeTraceRecorder recorder;  // 3.2 MB, of the 64 MiB by default
  for (int i = 0; i < 100000; ++i) record(recorder, "softmax", {"a"});
  CHECK(recorder.dropped_stages() == 0);
}

TEST_CASE("a stage goes on when one inside it finds no room", "[engine]") {
  int limits_between = 0;
  for (std::size_t limit = 0; limit < 600; limit += 3) {
    ChromeTraceRecorder recorder(limit);
    record(recorder, "update logits", {"a"}, [&] {
      record(recorder, "apply penalty", {"a"});
      if (recorder.dropped_stages() != 1) return;
      ++limits_between;
      const auto end = [&] { return read_trace(recorder.json()).stages.at(0).end; };
      const double earlier = end();
      CHECK(end() > earlier);  // still open
    });
    CHECK(read_trace(recorder.json()).stages.size() ==
          2 - static_cast<std::size_t>(recorder.dropped_stages()));
  }
  CHECK(limits_between > 0);
}

TEST_CASE("a cleared trace has room again and forgets open stages", "[engine]") {
  ChromeTraceRecorder recorder(1000);
  std::size_t names = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i) record(recorder, "softmax", {std::to_string(i)});
    CHECK(recorder.dropped_stages() > 90 * (round + 1));
    CHECK(read_trace(recorder.json()).stages.size() > 3);
    recorder.clear();
    record(recorder, "update logits", {"a"}, [&] {
      recorder.clear();
      record(recorder, "apply penalty", {"a"});
    });
    record(recorder, "sampling", {"a"});
    CHECK(read_trace(recorder.json()).stages_of("a") == Ids{"sampling"});
    recorder.clear();
    CHECK(read_trace(recorder.json()).tracks.empty());
    if (round == 0) names = recorder.bytes();
    CHECK(recorder.bytes() == names);
  }
}

}  // namespace tokkos::test
