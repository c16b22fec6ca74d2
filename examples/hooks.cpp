// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Edits of one's own, on the host and on Views, and an event trace of the step. The model always
// wants the token before; the first hook forbids that, the second caps its logits softly.

#include <tokkos/tokkos.hpp>

#include <cfloat>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Space>;
constexpr int vocabulary = 8;

// begin edit
/// Never the same token twice in a row, along draft paths too.
void no_immediate_repeat(tokkos::RowEdits& row) {
  const tokkos::TokenContext& before = row.context();
  if (before.size() > 0) row.forbid(before[before.size() - 1]);
}
// end edit

// begin logits
/// x becomes 5 tanh(x / 5), by the library's tanh: the same bits on every backend. A logit of at
/// most -FLT_MAX is a token that the edits before have forbidden, and has to stay.
void soft_cap(const Space& space, const tokkos::Matrix<float, Space::memory_space>& logits) {
  using Policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>;
  const Policy all(space, {0, 0}, {logits.extent(0), logits.extent(1)});
  Kokkos::parallel_for(
      "engine::soft_cap", all, KOKKOS_LAMBDA(const std::size_t row, const std::size_t v) {
        const float x = logits(row, v);
        if (x > -FLT_MAX) logits(row, v) = 5.0f * tokkos::portable_tanh(x / 5.0f);
      });
}
// end logits

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Rows logits("logits", 1, vocabulary);
  const auto model = Kokkos::create_mirror_view(logits);
  model(0, 3) = 50.0f;  // the token before
  model(0, 6) = 40.0f;
  Kokkos::deep_copy(logits, model);
  const Kokkos::View<tokkos::TokenId*, Space> token("token", 1);
  const std::vector<std::string> ids = {"chat-1"};
  const std::vector<tokkos::GenerationConfig> configs(1);
  const tokkos::TokenHistory history({7, 3});
  const std::vector<tokkos::SequenceState> states = {{.history = &history}};
  const Space space;

  // begin recorder
  tokkos::ChromeTraceRecorder trace;
  tokkos::LogitProcessor<Space> processor(space, 1, vocabulary, std::nullopt, &trace);
  // end recorder
  // begin attach
  tokkos::StepRequests step{configs, states, ids};
  const tokkos::EditHook on_the_host = no_immediate_repeat;
  step.edit_hook = &on_the_host;  // called by prepare, here inside process
  processor.process(logits, step, {.tokens = token}, {}, soft_cap);
  // end attach

  const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), token);
  Kokkos::deep_copy(model, logits);
  std::printf("token %d, capped at %.1f; 3 is at %.1f\n", drawn(0),
              static_cast<double>(model(0, 6)), static_cast<double>(model(0, 3)));
  // begin trace
  std::ofstream file("trace.json");  // for chrome://tracing or https://ui.perfetto.dev
  trace.write(file);
  // end trace
  return file.good() ? 0 : 1;
}
