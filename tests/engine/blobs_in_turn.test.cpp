// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The blobs of PreparedStep on a device that runs everything as late as it may: what is overwritten
// while a kernel still has to read it, or read before it is uploaded, shows in the kernel's result.
#include "engine/prepared_step.hpp"

#include "engine/staged_upload.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/late_space.hpp"
#include "request/owned_step.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 4096;

/// What the kernels of a step read.
struct Read {
  std::vector<float> temperatures, uniforms, biases;
  std::vector<TokenId> tokens;
  bool operator==(const Read&) const = default;
};

template <class T, class View>
void copy_to(std::vector<T>& values, const View& view) {
  for (std::size_t i = 0; i < view.extent(0); ++i) values.push_back(view(i));
}

/// Steps on a LateSpace, each with other values.
class Steps {
 public:
  /// Prepares step `number` with `rows` rows of `biases` biases each.
  void prepare(int number, int rows, int biases) {
    OwnedStep step;
    std::vector<float> uniforms;
    m_expected.emplace_back();
    Read& expected = m_expected.back();
    for (int i = 0; i < rows; ++i) {
      GenerationConfig config;
      config.temperature = static_cast<float>(100 * number + i + 1);
      for (int k = 0; k < biases; ++k) {
        config.logit_bias.emplace_back(k, static_cast<double>(number + k + 1));
        expected.tokens.push_back(k);
        expected.biases.push_back(static_cast<float>(number + k + 1));
      }
      step.add(config);
      uniforms.push_back(static_cast<float>(number + 1) / 64.0f);
      expected.temperatures.push_back(config.temperature);
    }
    expected.uniforms = uniforms;
    m_prepared.flatten(step.requests(), vocabulary, vocabulary, nullptr);
    m_prepared.stage(m_space, step.requests(), rows, uniforms, {});
  }

  /// Gives the kernels of the step that was prepared to the instance.
  /// @param ends whether it gets to the end, or throws behind the kernels
  void process(bool ends = true) {
    const auto launches = [&] {
      launch();
      if (!ends) throw std::runtime_error("a hook");
    };
    if (ends) {
      m_prepared.launch(m_space, launches);
    } else {
      CHECK_THROWS_AS(m_prepared.launch(m_space, launches), std::runtime_error);
    }
  }

  /// Gives them to the instance again, as the graph of a step does.
  void replay() {
    m_prepared.blob().precede(m_space);
    launch();
  }

  /// Gives them alone to the instance.
  void launch() {
    const auto result = std::make_shared<Read>();
    m_results.push_back(result);
    m_space.launch("kernel", [result, edits = m_prepared.edits().biases(),
                              temperatures = m_prepared.rows().temperature(),
                              uniforms = m_prepared.rows().uniforms()] {
      copy_to(result->temperatures, temperatures);
      copy_to(result->uniforms, uniforms);
      copy_to(result->biases, edits.logit_bias);
      copy_to(result->tokens, edits.token_ids);
    });
  }

  /// What a call of its own does, between `prepare` and `process` or without them.
  void stage_something_else() {
    Staging<LateSpace>& blob =
        m_prepared.begin_call(m_space, 4 * Staging<LateSpace>::room<float>(1));
    const auto slot = blob.add<float>(1);
    const float number = static_cast<float>(--m_calls);
    blob.host(slot)[0] = number;
    m_prepared.launch_call(m_space, blob, [&] {
      m_space.launch("another kernel", [this, number, value = blob.on_device(slot)] {
        CHECK(value(0) == number);
        ++m_calls_that_ran;
      });
    });
  }
  int calls_that_ran() const { return m_calls_that_ran; }

  /// Whether the kernel of the i-th step that was processed ran.
  bool ran(std::size_t i) const { return !m_results[i]->temperatures.empty(); }

  /// The step that was prepared last will not be processed.
  void drop() { m_expected.pop_back(); }
  /// Where the kernels of the step that was prepared last find it.
  const void* place() const { return m_prepared.edits().biases().logit_bias.data(); }

  void finish_and_check() {
    m_space.fence("tokkos::test::done");
    REQUIRE(m_results.size() == m_expected.size());
    for (std::size_t i = 0; i < m_results.size(); ++i) {
      CAPTURE(i);
      CHECK((*m_results[i] == m_expected[i]));
    }
  }

  const LateSpace& space() const { return m_space; }
  std::size_t capacity() const { return m_prepared.capacity(); }

 private:
  LateSpace m_space;
  PreparedStep<LateSpace> m_prepared{m_space};
  std::vector<Read> m_expected;
  std::vector<std::shared_ptr<Read>> m_results;
  int m_calls = 0, m_calls_that_ran = 0;
};

std::ptrdiff_t count(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::count(names, name);
}

}  // namespace

TEST_CASE("kernels read the blob of their own step, however late they run", "[engine]") {
  Steps steps;
  for (int i = 0; i < 12; ++i) {
    steps.prepare(i, 5, 40);
    steps.process();
  }
  steps.finish_and_check();
}

TEST_CASE("blobs that grow and shrink are not taken from kernels that read them", "[engine]") {
  Steps steps;
  for (int i = 0; i < 24; ++i) {
    steps.prepare(i, 3 + i % 5, 10 + 700 * (i % 3) + 100 * i);
    steps.process();
  }
  steps.finish_and_check();
}

TEST_CASE("a step is prepared while the one before it runs, and waits for the one before that",
          "[engine]") {
  Steps steps;
  for (int i = 0; i < 8; ++i) {
    CAPTURE(i);
    const auto n = static_cast<std::size_t>(i);
    steps.prepare(i, 5, 40);
    if (i >= 1) CHECK(!steps.ran(n - 1));
    if (i >= 2) CHECK(steps.ran(n - 2));
    steps.process();
    CHECK(!steps.ran(n));
  }
  steps.finish_and_check();
}

TEST_CASE("a step uploads once, on an instance beside that of its kernels", "[engine]") {
  Steps steps;
  for (int i = 0; i < 6; ++i) {
    steps.prepare(i, 5, 40);
    CHECK(count(LateSpace::uploads.lock()->names(), "copy") == i + 1);
    steps.process();
  }
  CHECK(LateSpace::uploads.lock()->size() == 6);  // and does nothing else
  CHECK(count(steps.space().queue()->names(), "copy") == 0);
  CHECK(count(steps.space().queue()->names(), "wait") == 6);
  CHECK(count(steps.space().queue()->names(), "kernel") == 6);
  CHECK(steps.space().queue()->size() == 12);
  steps.finish_and_check();
}

TEST_CASE("a step that is dropped, or waits while another call stages, harms no other",
          "[engine]") {
  Steps steps;
  for (int i = 0; i < 12; ++i) {
    steps.prepare(i, 5, 40);
    if (i % 4 == 1) steps.stage_something_else();
    if (i % 3 == 2) {
      steps.drop();
      continue;
    }
    steps.process();
    if (i % 5 == 3) steps.stage_something_else();
  }
  steps.finish_and_check();
}

TEST_CASE("calls without a prepared step wait for the call before the last, not for the last",
          "[engine]") {
  Steps steps;
  for (int i = 0; i < 8; ++i) {
    CAPTURE(i);
    steps.stage_something_else();
    CHECK(steps.calls_that_ran() == std::max(0, i - 1));
  }
  CHECK(count(LateSpace::uploads.lock()->names(), "copy") == 8);
  steps.finish_and_check();
  CHECK(steps.calls_that_ran() == 8);
}

TEST_CASE("steps are staged at two places in turn, whatever comes between", "[engine]") {
  Steps steps;
  std::vector<const void*> places;
  for (std::size_t i = 0; i < 12; ++i) {
    CAPTURE(i);
    steps.prepare(static_cast<int>(i), 5, 40);
    places.push_back(steps.place());
    if (i > 0) CHECK(places[i] != places[i - 1]);
    if (i > 1) CHECK(places[i] == places[i - 2]);
    if (i % 4 == 2) steps.stage_something_else();
    i % 3 == 1 ? steps.drop() : steps.process();
    for (std::size_t call = 0; call < i % 3; ++call) steps.stage_something_else();
  }
  steps.finish_and_check();
}

TEST_CASE("a step that a graph replays keeps its blob, though it is never processed", "[engine]") {
  Steps steps;
  for (int i = 0; i < 9; ++i) {
    steps.prepare(i, 5, 40);
    steps.replay();  // what a replay does: neither finish nor end
    if (i % 4 == 3) steps.stage_something_else();
  }
  steps.finish_and_check();
}

TEST_CASE("kernels of a step that did not get to its end read their blob", "[engine]") {
  Steps steps;
  for (int i = 0; i < 9; ++i) {
    steps.prepare(i, 5, 40);
    steps.process(i % 3 == 0);
  }
  steps.finish_and_check();
}

TEST_CASE("after the first step of a shape no blob grows", "[engine]") {
  Steps steps;
  steps.prepare(0, 5, 400);
  const std::size_t held = steps.capacity();
  steps.process();
  for (int i = 1; i < 4; ++i) {
    steps.prepare(i, 5, 400);
    steps.process();
    CHECK(steps.capacity() == held);
  }
  steps.finish_and_check();
  // Two blobs and one mirror.
  CHECK(held == 3 * (held / 3));
  CHECK(held / 3 < 5 * 400 * 12 + 8192);
}

}  // namespace tokkos::test
