// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/tokkos.hpp>

#include <iostream>

int main() {
  const Kokkos::ScopeGuard kokkos;
  using Space = Kokkos::DefaultExecutionSpace;
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> logits("logits", 1, 128256);  // model's
  const Kokkos::View<tokkos::TokenId*, Space> token("token", 1);
  const std::string id = "chat-1";  // names the request's random stream
  const tokkos::GenerationConfig config{.temperature = 0.7f, .logit_bias = {{4242, 25.0}}};
  const tokkos::TokenHistory history({128000, 9906});  // the prompt; commit() what is generated
  const tokkos::SequenceState state{.history = &history};
  const tokkos::StepRequests step{{&config, 1}, {&state, 1}, {&id, 1}};
  tokkos::LogitProcessor processor(Space(), 1, 128256);
  processor.process(logits, step, {.tokens = token});  // bias, penalties, mask, softmax, draw
  const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), token);
  std::cout << "token " << drawn(0) << '\n';
}
