// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What the host can see is refused before anything is written, and the processor stays usable.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 100;
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

struct BadStep {
  const char* field;  // part of its name
  std::function<void(OwnedStep&)> plant;
};

/// Ways to spoil a step of at least two requests.
std::vector<BadStep> bad_steps() {
  std::vector<BadStep> bad;
  for (const float t : {quiet_nan, -1.0f, infinity}) {
    bad.push_back({"temperature", [=](OwnedStep& s) { s.configs[1].temperature = t; }});
  }
  for (const float p : {quiet_nan, infinity, -infinity}) {
    bad.push_back({"presence_penalty", [=](OwnedStep& s) { s.configs[1].presence_penalty = p; }});
    bad.push_back({"frequency_penalty", [=](OwnedStep& s) { s.configs[1].frequency_penalty = p; }});
  }
  for (const float r : {quiet_nan, 0.0f, -1.0f, infinity}) {
    bad.push_back(
        {"repetition_penalty", [=](OwnedStep& s) { s.configs[1].repetition_penalty = r; }});
  }
  for (const TokenId token : {-1, 100, std::numeric_limits<TokenId>::max()}) {
    bad.push_back({"logit_bias", [=](OwnedStep& s) { s.configs[1].logit_bias = {{token, 1.0}}; }});
  }
  for (const double bias : {double{quiet_nan}, double{infinity}, 1e39}) {
    bad.push_back({"logit_bias", [=](OwnedStep& s) { s.configs[1].logit_bias = {{1, bias}}; }});
  }
  bad.push_back({"", [](OwnedStep& s) { s.histories[1].commit(100); }});
  bad.push_back({"cum_num_token", [](OwnedStep& s) { s.cum_num_token->front() = 1; }});
  bad.push_back({"cum_num_token", [](OwnedStep& s) { s.cum_num_token->back() += 1; }});
  bad.push_back({"cum_num_token", [](OwnedStep& s) { s.cum_num_token->at(1) = 1000; }});
  bad.push_back({"cum_num_token", [](OwnedStep& s) { s.cum_num_token->pop_back(); }});
  bad.push_back({"sequence_states", [](OwnedStep& s) { s.states.pop_back(); }});
  bad.push_back({"request_ids", [](OwnedStep& s) { s.ids.pop_back(); }});
  bad.push_back({"draft_", [](OwnedStep& s) { s.indices.reset(); }});
  bad.push_back({"draft_token_indices", [](OwnedStep& s) { s.indices->at(1)[0] = 50; }});
  bad.push_back({"draft_token_indices", [](OwnedStep& s) { s.indices->at(1).push_back(-1); }});
  bad.push_back({"token_ids", [](OwnedStep& s) { s.trees->at(1) = {{100}, {-1}}; }});
  bad.push_back({"parents", [](OwnedStep& s) { s.trees->at(1) = {{1}, {0}}; }});
  return bad;
}

/// A step whose history of request 1 is looked at.
RandomStep good_step() {
  RandomStep step = make_random_step(vocabulary, vocabulary, 5);
  step.step.states[1].history = &step.step.histories[1];
  return step;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a wrong step is refused, writes nothing and leaves the processor usable",
                        "[engine]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  const RandomStep good = good_step();
  const auto rows = static_cast<std::size_t>(good.rows);
  std::mt19937_64 random(1);
  const std::vector<float> input = random_logits(rows * 100, random, false);
  const auto updated_by = [&](LogitProcessor<TestType>& processor) {
    Guarded<float, MemorySpace> logits(rows, 100, 0, std::span(input));
    processor.inplace_update_logits(logits.matrix(), good.step.requests());
    Kokkos::fence("tokkos::test::updated");
    return logits.values();
  };
  LogitProcessor<TestType> fresh(TestType(), 60, vocabulary);
  const std::vector<float> expected = updated_by(fresh);
  LogitProcessor<TestType> processor(TestType(), 60, vocabulary);
  int number = 0;
  for (const BadStep& bad : bad_steps()) {
    CAPTURE(number++, bad.field);
    RandomStep step = good_step();
    bad.plant(step.step);
    const Snapshot before(step);
    Guarded<float, MemorySpace> logits(rows, 100, 0, std::span(input));
    Guarded<float, MemorySpace> probabilities(rows, 100, 0, {});
    Guarded<std::int32_t, MemorySpace> status(rows);
    const Complaint update = error_of([&] {
      processor.inplace_update_logits(logits.matrix(), step.step.requests(), status.vector());
    });
    CHECK(update.names(bad.field));
    const Complaint compute = error_of([&] {
      processor.compute_probs_from_logits(logits.matrix(), step.step.requests(),
                                          probabilities.matrix(), status.vector());
    });
    CHECK(compute.names(bad.field));
    Kokkos::fence("tokkos::test::refused");
    CHECK(logits.values() == input);
    CHECK(probabilities.values() == std::vector<float>(rows * 100));
    CHECK(status.values() == std::vector<std::int32_t>(rows));
    CHECK(Snapshot(step) == before);
    CHECK(updated_by(processor) == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("Views that do not fit are refused", "[engine]", ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  OwnedStep step;
  for (int i = 0; i < 4; ++i) step.add({});
  const StepRequests requests = step.requests();
  LogitProcessor<TestType> processor(TestType(), 5, 10);
  const Guarded<float, MemorySpace> logits(4, 10, 0, {}), narrow_rows(4, 9, 0, {}),
      wide(4, 11, 0, {}), few(3, 10, 0, {}), many(6, 10, 0, {});
  const Guarded<std::int32_t, MemorySpace> short_status(3);
  for (const auto* wrong : {&narrow_rows, &wide, &few, &many}) {
    CHECK_THROWS_AS(processor.inplace_update_logits(wrong->matrix(), requests), Error);
    CHECK_THROWS_AS(processor.compute_probs_from_logits(wrong->matrix(), requests, logits.matrix()),
                    Error);
    CHECK_THROWS_AS(processor.compute_probs_from_logits(logits.matrix(), requests, wrong->matrix()),
                    Error);
  }
  CHECK_THROWS_AS(processor.inplace_update_logits(logits.matrix(), requests, short_status.vector()),
                  Error);
  CHECK_THROWS_AS(processor.compute_probs_from_logits(logits.matrix(), requests, logits.matrix(),
                                                      short_status.vector()),
                  Error);
  CHECK_NOTHROW(processor.inplace_update_logits(logits.matrix(), requests));
}

TEMPLATE_LIST_TEST_CASE("rows that overlap themselves or the output are refused", "[engine]",
                        ExecutionSpaces) {
  using MemorySpace = MemoryOf<TestType>;
  OwnedStep step;
  for (int i = 0; i < 4; ++i) step.add({});
  const StepRequests requests = step.requests();
  LogitProcessor<TestType> processor(TestType(), 4, 10);
  const Guarded<float, MemorySpace> memory(10, 10, 0, {});
  float* data = memory.vector().data();
  const auto rows_at = [&](std::ptrdiff_t offset, std::size_t stride) {
    return Matrix<float, MemorySpace>(data + offset, Kokkos::LayoutStride(4, stride, 10, 1));
  };
  CHECK_THROWS_AS(processor.inplace_update_logits(rows_at(0, 9), requests), Error);
  CHECK_THROWS_AS(processor.compute_probs_from_logits(rows_at(0, 10), requests, rows_at(1, 10)),
                  Error);
  CHECK_THROWS_AS(processor.compute_probs_from_logits(rows_at(0, 10), requests, rows_at(10, 10)),
                  Error);
  CHECK_THROWS_AS(processor.compute_probs_from_logits(rows_at(0, 10), requests, rows_at(0, 11)),
                  Error);
  CHECK_NOTHROW(processor.compute_probs_from_logits(rows_at(0, 10), requests, rows_at(40, 10)));
  Kokkos::fence("tokkos::test::done");
}

TEMPLATE_LIST_TEST_CASE("more rows than the processor was made for are refused", "[engine]",
                        ExecutionSpaces) {
  OwnedStep step;
  for (int i = 0; i < 5; ++i) step.add({});
  LogitProcessor<TestType> processor(TestType(), 4, 10);
  const Guarded<float, MemoryOf<TestType>> logits(5, 10, 0, {});
  const Complaint complaint =
      error_of([&] { processor.inplace_update_logits(logits.matrix(), step.requests()); });
  CHECK(complaint.value == "5");
  CHECK(complaint.expected.find('4') != std::string::npos);
}

TEMPLATE_LIST_TEST_CASE("a processor that was moved from refuses to work", "[engine]",
                        ExecutionSpaces) {
  OwnedStep step;
  GenerationConfig config;
  config.logit_bias = {{3, 1.0}};
  step.add(config);
  LogitProcessor<TestType> first(TestType(), 4, 10);
  LogitProcessor<TestType> second(std::move(first));
  Guarded<float, MemoryOf<TestType>> logits(1, 10, 0, {});
  const StepRequests requests = step.requests();
  CHECK_THROWS_AS(first.inplace_update_logits(logits.matrix(), requests), Error);
  CHECK_THROWS_AS(first.compute_probs_from_logits(logits.matrix(), requests, logits.matrix()),
                  Error);
  CHECK(logits.values() == std::vector<float>(10));
  const Matrix<float, MemoryOf<TestType>> no_rows;
  CHECK_THROWS_AS(first.inplace_update_logits(no_rows, {}), Error);
  CHECK_THROWS_AS(first.prepare(0, {}), Error);
  CHECK_THROWS_AS(first.process(no_rows, {}), Error);
  CHECK_NOTHROW(second.inplace_update_logits(logits.matrix(), requests));
  Kokkos::fence("tokkos::test::done");
  CHECK(logits.values()[3] == 1.0f);
}

TEMPLATE_LIST_TEST_CASE("a processor is made for legal sizes only", "[engine]", ExecutionSpaces) {
  const auto make = [](std::int64_t rows, std::int64_t v, std::optional<std::int64_t> active = {}) {
    return LogitProcessor<TestType>(TestType(), rows, v, active);
  };
  const std::int64_t largest = (std::int64_t{1} << 19) - 1;
  CHECK(make(3, 10).active_vocabulary() == 10);
  CHECK(make(3, 10, 7).active_vocabulary() == 7);
  CHECK(make(0, 1).max_num_token() == 0);
  CHECK(make(1, largest).vocab_size() == largest);
  CHECK(make(1, largest + 5, largest).active_vocabulary() == largest);
  CHECK_THROWS_AS(make(-1, 10), Error);
  for (const std::int64_t v : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31}) {
    CHECK_THROWS_AS(make(1, v), Error);
  }
  CHECK_THROWS_AS(make(1, largest + 1), Error);
  for (const std::int64_t active : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{11}}) {
    const Complaint complaint = error_of([&] { make(1, 10, active); });
    CHECK(complaint.names("active"));
    CHECK(complaint.value == to_text(active));
  }
  CHECK_THROWS_AS(make(1, largest + 5, largest + 1), Error);
}

}  // namespace tokkos::test
