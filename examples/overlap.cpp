// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Each step is prepared while the model computes its logits, then processed. The model is a fake: a
// kernel that mixes bits for a while. Both ways of running a step, overlapped and in one call, must
// draw the same tokens. The times are those of this run; on a host, model and `prepare` share the
// processor's cores, so that little or nothing is won.

#include <tokkos/tokkos.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>
#include <string>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Logits = Kokkos::View<float**, Kokkos::LayoutRight, Space>;
using Tokens = Kokkos::View<tokkos::TokenId*, Space>;
using Milliseconds = std::chrono::duration<double, std::milli>;
constexpr int requests = 8;
constexpr int vocabulary = 32000;
constexpr int steps = 10;

/// A logit out of the token before it and its own place.
struct ForwardPass {
  Tokens previous;
  Logits logits;
  int rounds;

  KOKKOS_FUNCTION void operator()(const int i) const {
    const int row = i / vocabulary;
    const int column = i % vocabulary;
    std::uint32_t bits = static_cast<std::uint32_t>(previous(row)) * 2654435761U +
                         static_cast<std::uint32_t>(column) * 40503U + 1U;
    for (int round = 0; round < rounds; ++round) bits = bits * 1664525U + 1013904223U;
    logits(row, column) = static_cast<float>(bits >> 8U) * 0x1p-20f;  // in [0, 16)
  }
};

struct Run {
  std::vector<tokkos::TokenId> tokens;
  Milliseconds total{0};
  Milliseconds preparing{0};
};

/// Generates `steps` tokens for each request.
Run generate(bool overlaps) {
  using Clock = std::chrono::steady_clock;
  std::array<std::string, requests> ids;
  std::array<tokkos::GenerationConfig, requests> configs;
  std::array<tokkos::TokenHistory, requests> histories;
  std::array<tokkos::SequenceState, requests> states;
  for (std::size_t i = 0; i < requests; ++i) {
    ids[i] = "chat-" + std::to_string(i);
    configs[i] = {.temperature = 0.8f, .top_p = 0.9f, .frequency_penalty = 0.2f};
    for (int t = 0; t < 2000; ++t)
      histories[i].commit(t * 13 % vocabulary);  // a long answer so far
    states[i].history = &histories[i];
  }
  const tokkos::StepRequests step{configs, states, ids};

  const Space space;
  const Logits logits("logits", requests, vocabulary);
  const Tokens tokens("tokens", requests);  // of the step before, which the model reads
  tokkos::LogitProcessor<Space> processor(space, requests, vocabulary);
  const tokkos::StepOutputs<Space::memory_space> outputs{.tokens = tokens};
  const auto forward = [&] {
    Kokkos::parallel_for("example::model::forward",
                         Kokkos::RangePolicy<Space>(space, 0, requests * vocabulary),
                         ForwardPass{tokens, logits, 25});
  };

  Run run;
  const auto start = Clock::now();
  for (int k = 0; k < steps; ++k) {
    if (overlaps) {
      // A device returns from the launch at once, and `prepare` could simply follow it; a host
      // computes before it returns, so that `prepare` gets a thread.
      auto preparing = std::async(std::launch::async, [&] {
        const auto begin = Clock::now();
        processor.prepare(requests, step);
        run.preparing += Clock::now() - begin;
      });
      forward();
      preparing.get();
      processor.process(logits, outputs);
    } else {
      forward();
      processor.process(logits, step, outputs);
    }
    const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tokens);
    for (std::size_t i = 0; i < requests; ++i) {
      histories[i].commit(drawn(i));
      run.tokens.push_back(drawn(i));
    }
  }
  run.total = Clock::now() - start;
  return run;
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  generate(true);  // whatever is slow only the first time
  const Run in_one_call = generate(false);
  const Run overlapped = generate(true);
  const bool agree = overlapped.tokens == in_one_call.tokens;
  std::printf("%d steps of %d requests: %s tokens both ways\n", steps, requests,
              agree ? "the same" : "other");
  std::printf("in one call %7.3f ms a step\n", in_one_call.total.count() / steps);
  std::printf("overlapped  %7.3f ms a step, preparing %.3f ms of it while the model ran\n",
              overlapped.total.count() / steps, overlapped.preparing.count() / steps);
  return agree ? 0 : 1;
}
