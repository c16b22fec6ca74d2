// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The second half of a step, captured once in a CUDA or HIP graph and replayed for new logits: one
// launch on the host where there were several. `process` decides nothing by what is on the device,
// allocates nothing and waits for nothing, so that it can be captured; `prepare` stays outside.
//
// A graph keeps the Views and the shape of the step that was captured: it holds for as long as each
// step has as many rows, biases, penalized tokens and masked rows, at the same places of the same
// blob (of which a LogitProcessor has two, in turn: an engine keeps a graph for each), and until a
// step needs more room than any before, for which both blobs move. This example replays it for the
// same requests.

#include <tokkos/tokkos.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "captured_graph.hpp"

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Logits = Kokkos::View<float**, Kokkos::LayoutRight, Space>;
using Tokens = Kokkos::View<tokkos::TokenId*, Space>;
using Graph = example::CapturedGraph<Space>;
constexpr int requests = 4;
constexpr int vocabulary = 32000;
constexpr std::uint32_t steps = 3;

/// The model, a fake: other logits in every step.
struct ForwardPass {
  Logits logits;
  std::uint32_t step;

  KOKKOS_FUNCTION void operator()(const int i) const {
    std::uint32_t bits = static_cast<std::uint32_t>(i) * 2654435761U + step * 40503U + 1U;
    for (int round = 0; round < 4; ++round) bits = bits * 1664525U + 1013904223U;
    logits(i / vocabulary, i % vocabulary) = static_cast<float>(bits >> 8U) * 0x1p-20f;
  }
};

void forward(const Space& space, const Logits& logits, std::uint32_t step) {
  Kokkos::parallel_for("example::model::forward",
                       Kokkos::RangePolicy<Space>(space, 0, requests * vocabulary),
                       ForwardPass{logits, step});
}

void append(std::vector<tokkos::TokenId>& all, const Space& space, const Tokens& tokens) {
  space.fence("example::step::done");
  const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tokens);
  for (std::size_t i = 0; i < requests; ++i) all.push_back(drawn(i));
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  // An instance of its own, so that nothing else gets into the graph.
  const Space space = Kokkos::Experimental::partition_space(Space(), 1).front();
  std::array<std::string, requests> ids;
  std::array<tokkos::GenerationConfig, requests> configs;
  std::array<tokkos::SequenceState, requests> states;
  const tokkos::TokenHistory history({31000, 9906});
  for (std::size_t i = 0; i < requests; ++i) {
    ids[i] = "chat-" + std::to_string(i);
    configs[i] = {.temperature = 0.8f, .top_p = 0.9f, .logit_bias = {{17, 2.0}}};
    states[i].history = &history;
  }
  const tokkos::StepRequests step{configs, states, ids};
  const Logits logits("logits", requests, vocabulary);
  const Tokens tokens("tokens", requests);
  const tokkos::StepOutputs<Space::memory_space> outputs{.tokens = tokens};

  tokkos::LogitProcessor<Space> processor(space, requests, vocabulary);
  std::vector<tokkos::TokenId> launched, replayed;
  for (std::uint32_t k = 0; k < steps; ++k) {  // this also warms up what is captured below
    forward(space, logits, k);
    processor.process(logits, step, outputs);
    append(launched, space, tokens);
  }
  if constexpr (Graph::is_possible) {
    processor.prepare(requests, step);
    const Graph graph(space, [&] { processor.process(logits, outputs); });
    for (std::uint32_t k = 0; k < steps; ++k) {
      forward(space, logits, k);
      graph.replay();
      append(replayed, space, tokens);
    }
  } else {
    std::printf("%s runs launches at once: no graph, the steps are launched twice\n",
                Space::name());
    for (std::uint32_t k = 0; k < steps; ++k) {
      processor.prepare(requests, step);
      forward(space, logits, k);
      processor.process(logits, outputs);
      append(replayed, space, tokens);
    }
  }
  const bool agree = launched == replayed;
  std::printf("%u steps of %d requests: %s tokens both ways\n", steps, requests,
              agree ? "the same" : "other");
  return agree ? 0 : 1;
}
