// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Objects of the engine are refused while Kokkos is not initialized, and may be destroyed after it
// is finalized. Exits with the number of broken promises.
#include <tokkos/core/error.hpp>
#include <tokkos/engine/draft_verifier.hpp>
#include <tokkos/engine/logit_processor.hpp>
#include <tokkos/engine/sampler.hpp>
#include <tokkos/kernels/truncate.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using MemorySpace = tokkos::MemoryOf<Space>;

int broken = 0;

void check(bool holds, const char* promise) {
  if (holds) return;
  std::printf("broken: %s\n", promise);
  ++broken;
}

template <class Function>
bool is_refused(Function&& function) {
  try {
    function();
  } catch (const tokkos::Error& error) {
    std::printf("refused: %s\n", error.what());
    return error.field().find("Kokkos") != std::string::npos;
  }
  return false;
}

struct Engine {
  tokkos::LogitProcessor<Space> processor;
  tokkos::Sampler<Space> sampler;
  tokkos::DraftVerifier<Space> verifier;
  tokkos::Workspace<MemorySpace> workspace;
  tokkos::CutsWorkspace<MemorySpace> cuts;

  explicit Engine(const Space& space)
      : processor(space, 4, 100),
        sampler(space, 4, 100),
        verifier(space, 4, 100),
        workspace(4, 100),
        cuts(4) {}

  void step() {
    const Kokkos::View<float**, Kokkos::LayoutRight, MemorySpace> logits("logits", 2, 100);
    const Kokkos::View<tokkos::TokenId*, MemorySpace> tokens("tokens", 2);
    const std::vector<tokkos::GenerationConfig> configs(2);
    const std::vector<tokkos::SequenceState> states(2);
    const std::vector<float> uniforms(2, 0.5f);
    tokkos::StepRequests requests;
    requests.generation_configs = configs;
    requests.sequence_states = states;
    processor.inplace_update_logits(logits, requests);
    sampler.sample_from_logits(logits, requests, tokens, uniforms);
    processor.compute_probs_from_logits(logits, requests, logits);
    const auto verified =
        verifier.verify(logits, logits, std::vector<tokkos::DraftTree>(2), {uniforms, uniforms});
    check(verified.size() == 2 && verified[0].tokens.size() == 1, "a step works");
  }
};

}  // namespace

int main(int argc, char* argv[]) {
  check(is_refused([] { tokkos::Workspace<MemorySpace>(4, 100); }), "no workspace before Kokkos");
  check(is_refused([] { tokkos::CutsWorkspace<MemorySpace> cuts(4); }), "no cuts before Kokkos");
  std::optional<Engine> engine;
  Kokkos::initialize(argc, argv);
  engine.emplace(Space());
  engine->step();
  Engine moved(std::move(*engine));
  moved.step();
  engine.emplace(std::move(moved));
  Kokkos::finalize();
  const tokkos::Matrix<const float, MemorySpace> none;
  check(is_refused([&] { engine->verifier.verify(none, none, {}, {}); }),
        "no verification after Kokkos");
  const tokkos::Matrix<float, MemorySpace> no_logits;
  check(is_refused([&] { engine->processor.inplace_update_logits(no_logits, {}); }),
        "no edits after Kokkos");
  check(is_refused([&] { engine->processor.process(no_logits, tokkos::StepRequests{}, {}); }),
        "no step after Kokkos");
  check(is_refused([&] { engine->sampler.sample_from_logits(none, {}, {}); }),
        "no tokens after Kokkos");
  check(is_refused([] { tokkos::Workspace<MemorySpace>(4, 100); }), "no workspace after Kokkos");
  check(is_refused([&] { engine->workspace.measures(2); }), "no measures after Kokkos");
  check(is_refused([&] { engine->cuts.cuts(2); }), "no cuts after Kokkos");
  engine.reset();
  std::printf("%d promises broken\n", broken);
  return broken;
}
