// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A step of an engine, each call in a region of the engine's own, for a tool to look at: two
// requests with every kind of edit, then a draft tree of the first one. Kokkos::ScopeGuard takes
// the arguments, so that --kokkos-tools-libs=LIBRARY works beside KOKKOS_TOOLS_LIBS.

#include <tokkos/tokkos.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Space>;
constexpr int requests = 2, nodes = 3, vocabulary = 8192;

/// A grammar that allows the first half of the vocabulary.
class FirstHalf : public tokkos::VocabularyMask {
 public:
  void fill_next_bitmask(std::span<std::int32_t> words) override {
    for (std::size_t i = 0; i < words.size() / 2; ++i) words[i] = -1;
  }
  bool accept(tokkos::TokenId token) override { return token < vocabulary / 2; }
  void rollback(std::int32_t) override {}
};

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Space space;
  tokkos::LogitProcessor<Space> processor(space, requests, vocabulary);
  tokkos::Sampler<Space> sampler(space, requests, vocabulary);
  tokkos::DraftVerifier<Space> verifier(space, nodes, vocabulary);

  const std::array<std::string, requests> ids = {"chat-1", "chat-2"};
  std::array<tokkos::GenerationConfig, requests> configs;
  configs[0] = {.top_p = 0.9f, .frequency_penalty = 0.5f};
  configs[1].logit_bias = {{7, -1.0}};
  tokkos::TokenHistory history({1, 2});
  history.commit(3);
  FirstHalf grammar;
  const std::array<tokkos::SequenceState, requests> states = {
      {{.history = &history}, {.history = &history, .mask = &grammar}}};
  const tokkos::StepRequests step{configs, states, ids};

  const Rows logits("logits", requests, vocabulary);
  const Rows probabilities("probabilities", requests, vocabulary);
  const Rows model("model", nodes, vocabulary);
  const Kokkos::View<tokkos::TokenId*, Space> tokens("tokens", requests);
  for (int node = 0; node < nodes; ++node) model(node, node) = 1.0f;
  const std::vector<tokkos::DraftTree> trees = {{.token_ids = {0, 1}, .parents = {-1, 0}}};
  const tokkos::DraftProbabilities<Space::memory_space> chosen;

  using Kokkos::Profiling::ScopedRegion;
  {
    const ScopedRegion region("engine::prepare");
    processor.prepare(requests, step);
  }
  {
    const ScopedRegion region("engine::process");
    processor.process(logits, {.probabilities = probabilities, .tokens = tokens});
  }
  {
    const ScopedRegion region("engine::update");
    processor.inplace_update_logits(logits, step);
  }
  {
    const ScopedRegion region("engine::probabilities");
    processor.compute_probs_from_logits(logits, step, probabilities);
  }
  {
    const ScopedRegion region("engine::sample");
    sampler.sample_from_logits(logits, step, tokens);
  }
  {
    const ScopedRegion region("engine::verify");
    const std::vector<float> uniforms(nodes, 0.5f);
    const auto verified =
        verifier.verify(model, chosen, trees, {uniforms, {0.5f}}, {ids.data(), 1});
    std::printf("emitted %zu tokens\n", verified[0].tokens.size());
  }
}
