// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// How much memory a processor holds, on the host and on the device, and how that grows.
#include <tokkos/engine/logit_processor.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "backends.hpp"
#include "engine/host_allocations.hpp"
#include "engine/kokkos_events.hpp"
#include "request/owned_step.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::size_t heavy_rows = 80, heavy_edits = 256;

/// Bytes of the mirror that a device has beside the two blobs of a processor; on a host a blob is
/// its own mirror.
template <class ExecutionSpace>
std::int64_t missing_mirror(const LogitProcessor<ExecutionSpace>& processor) {
  const auto held = static_cast<std::int64_t>(processor.staging_capacity());
  return Staging<ExecutionSpace>::needs_copy ? 0 : held / 2;
}

/// 80 requests of 256 edits each.
OwnedStep step_of_edits(std::size_t biases, std::size_t penalties, TokenId first_penalized) {
  OwnedStep step;
  for (std::size_t i = 0; i < heavy_rows; ++i) {
    GenerationConfig config{.frequency_penalty = penalties > 0 ? 0.5f : 0.0f};
    for (std::size_t k = 0; k < biases; ++k) {
      config.logit_bias.emplace_back(static_cast<TokenId>(k), 0.5);
    }
    TokenHistory history;
    for (std::size_t k = 0; k < penalties; ++k) {
      history.commit(first_penalized + static_cast<TokenId>(k));
    }
    step.add(config, history);
  }
  return step;
}

}  // namespace

TEST_CASE("room for staging is a sixteenth too large at most and seldom grows", "[engine]") {
  std::size_t held = 0;
  std::map<int, int> growths;  // by the width of what was needed
  for (std::size_t bytes = 1; bytes <= std::size_t{4} << 20; bytes += 64) {
    const std::size_t room = staging_room(bytes);
    REQUIRE((room >= bytes && room >= held));
    REQUIRE(room - bytes < std::max<std::size_t>(4096, bytes / 16 + 1));
    if (room > held) ++growths[std::bit_width(bytes)];
    held = room;
  }
  for (const auto& [width, count] : growths) CHECK(count <= 16 + 1);
  CHECK(growths.size() <= 23);
  CHECK(staging_room(0) == 0);
}

TEMPLATE_LIST_TEST_CASE(
    "all that a processor holds for 80 requests of 256 edits is less than a mebibyte, host and "
    "device together",
    "[engine]", ExecutionSpaces) {
  constexpr std::int64_t vocabulary = 128256;
  const Kokkos::View<float**, Kokkos::LayoutRight, MemoryOf<TestType>> logits(
      "tokkos::test::logits", heavy_rows, static_cast<std::size_t>(vocabulary));
  const Kokkos::View<TokenId*, MemoryOf<TestType>> tokens("tokkos::test::tokens", heavy_rows);
  struct Kind {
    std::size_t biases, penalties;
    TokenId first_penalized;
  };
  const Kind kinds[] = {{0, 256, 0}, {256, 0, 0}, {128, 128, 1000}, {128, 128, 0}, {1, 255, 0}};
  for (const auto& [biases, penalties, first_penalized] : kinds) {
    CAPTURE(biases, penalties, first_penalized);
    const OwnedStep step = step_of_edits(biases, penalties, first_penalized);
    const StepRequests requests = step.requests();
    const auto rows = static_cast<std::int64_t>(heavy_rows);
    const auto run_with = [&](LogitProcessor<TestType>& processor) {
      processor.inplace_update_logits(logits, requests);  // the seed's calls
      processor.compute_probs_from_logits(logits, requests, logits);
      processor.process(logits, requests, {.tokens = tokens});  // both blobs
      processor.prepare(rows, requests);
      processor.process(logits, {.tokens = tokens});
      Kokkos::fence("tokkos::test::step");
    };
    {  // Kokkos keeps scratch memory for teams, which is not the processor's
      LogitProcessor<TestType> other(TestType(), rows, vocabulary);
      run_with(other);
    }
    const HeldMemory memory;
    LogitProcessor<TestType> processor(TestType(), rows, vocabulary);
    run_with(processor);
    const std::int64_t held = memory.bytes();
    CHECK(held + missing_mirror(processor) < mebibyte);
    CHECK(memory.peak() + missing_mirror(processor) < mebibyte);  // on the way there, too
    // What is counted is what there is: the blobs, and the lists of the host beside them.
    CHECK(processor.staged_bytes() > heavy_rows * heavy_edits * 2 * sizeof(TokenId));
    CHECK(memory.host_bytes() > static_cast<std::int64_t>(heavy_rows * 128 * 2 * sizeof(TokenId)));
    CHECK(held > memory.host_bytes() + static_cast<std::int64_t>(processor.staging_capacity()));
    run_with(processor);
    CHECK(memory.bytes() == held);
  }
}

TEMPLATE_LIST_TEST_CASE("a processor holds less than a mebibyte while 80 histories grow to 256",
                        "[engine]", ExecutionSpaces) {
  constexpr std::int64_t vocabulary = 512;  // what is staged does not depend on it
  OwnedStep step;
  for (std::size_t i = 0; i < heavy_rows; ++i) {
    step.add({.frequency_penalty = 0.5f}, TokenHistory());
  }
  const Kokkos::View<float**, Kokkos::LayoutRight, MemoryOf<TestType>> logits(
      "tokkos::test::logits", heavy_rows, static_cast<std::size_t>(vocabulary));
  const Kokkos::View<TokenId*, MemoryOf<TestType>> tokens("tokkos::test::tokens", heavy_rows);
  const HeldMemory memory;
  LogitProcessor<TestType> processor(TestType(), heavy_rows, vocabulary);
  std::int64_t histories = 0;
  for (std::size_t token = 0; token < heavy_edits; ++token) {
    const std::int64_t before = memory.bytes();
    for (TokenHistory& history : step.histories) history.commit(static_cast<TokenId>(token));
    histories += memory.bytes() - before;
    processor.process(logits, step.requests(), {.tokens = tokens});
    CHECK(memory.bytes() - histories + missing_mirror(processor) < mebibyte);
  }
  Kokkos::fence("tokkos::test::done");
  CHECK(processor.staged_bytes() > heavy_rows * heavy_edits * 3 * sizeof(TokenId));
}

TEMPLATE_LIST_TEST_CASE("staging grows seldom while 80 histories grow to 256 tokens", "[engine]",
                        ExecutionSpaces) {
  OwnedStep step;
  for (std::size_t i = 0; i < heavy_rows; ++i) {
    step.add({.frequency_penalty = 0.5f}, TokenHistory());
  }
  LogitProcessor<TestType> processor(TestType(), heavy_rows, 512);
  const KokkosEvents events;
  for (std::size_t token = 0; token < heavy_edits; ++token) {
    for (TokenHistory& history : step.histories) history.commit(static_cast<TokenId>(token));
    processor.prepare(heavy_rows, step.requests());
  }
  // Of two blobs from 4 KiB to 256 KiB: 15 pages up to 64 KiB, then 16 for each of two doublings.
  const auto growths = std::ranges::count(
      events.allocations(), std::string("tokkos::staging::blob"), &KokkosEvents::Allocation::label);
  CHECK(growths <= 2 * (15 + 2 * 16));
  CHECK(growths >= 2);
}

}  // namespace tokkos::test
