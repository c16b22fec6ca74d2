// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A program outside of Tokkos's build: one request, whose bias decides, through the whole library.
#include <tokkos/tokkos.hpp>

#include <iostream>
#include <string>

int main() {
  const Kokkos::ScopeGuard kokkos;
  using Space = Kokkos::DefaultExecutionSpace;
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> logits("logits", 1, 5000);
  const Kokkos::View<tokkos::TokenId*, Space> token("token", 1);
  const std::string id = "consumer";
  const tokkos::GenerationConfig config{.temperature = 0.5f, .logit_bias = {{4242, 25.0}}};
  const tokkos::TokenHistory history({7});
  const tokkos::SequenceState state{.history = &history};
  const tokkos::StepRequests step{{&config, 1}, {&state, 1}, {&id, 1}};
  tokkos::LogitProcessor processor(Space(), 1, 5000);
  processor.process(logits, step, {.tokens = token});
  const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), token);
  std::cout << "Tokkos " << tokkos::version() << ", token " << drawn(0) << '\n';
  const bool same_version = std::string(tokkos::version()) == tokkos::version_string;
  return drawn(0) == 4242 && same_version ? 0 : 1;
}
