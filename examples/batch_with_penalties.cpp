// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Three requests in one step, with the same logits and the same generated tokens, and penalties of
// their own. Each row's probabilities are printed; the logits are replaced in place.

#include <tokkos/tokkos.hpp>

#include <array>
#include <cstdio>
#include <string>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
constexpr int rows = 3;
constexpr int vocabulary = 4;

Kokkos::View<float**, Kokkos::LayoutRight, Space> equal_rows(std::array<float, vocabulary> row) {
  Kokkos::View<float**, Kokkos::LayoutRight, Space> logits("logits", rows, vocabulary);
  const auto host = Kokkos::create_mirror_view(logits);
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vocabulary; ++v) host(i, v) = row[static_cast<std::size_t>(v)];
  }
  Kokkos::deep_copy(logits, host);
  return logits;
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const auto logits = equal_rows({2.0f, 1.0f, 0.0f, -1.0f});

  tokkos::TokenHistory history({3});  // a prompt does not count
  for (const tokkos::TokenId token : {0, 0, 0, 1}) history.commit(token);

  const std::array<std::string, rows> ids = {"plain", "subtracted", "divided"};
  std::array<tokkos::GenerationConfig, rows> configs;
  configs[1].presence_penalty = 0.5f;
  configs[1].frequency_penalty = 0.25f;
  configs[2].repetition_penalty = 2.0f;
  const tokkos::SequenceState state{.history = &history};
  const std::array<tokkos::SequenceState, rows> states = {state, state, state};

  tokkos::StepRequests step;
  step.generation_configs = configs;
  step.sequence_states = states;
  step.request_ids = ids;

  tokkos::LogitProcessor<Space> processor(Space(), rows, vocabulary);
  processor.inplace_update_logits(logits, step);
  processor.compute_probs_from_logits(logits, step, logits);

  const auto probabilities = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), logits);
  for (int i = 0; i < rows; ++i) {
    std::printf("%-10s", ids[static_cast<std::size_t>(i)].c_str());
    for (int v = 0; v < vocabulary; ++v) std::printf(" %.4f", probabilities(i, v));
    std::printf("\n");
  }
}
