// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/tokkos.hpp>

#include <iostream>
#include <string>

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  using Space = Kokkos::DefaultExecutionSpace;
  // One row of logits in the device's memory: here all 0, in an engine what the model wrote.
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> logits("logits", 1, 128256);
  const Kokkos::View<tokkos::TokenId*, Space> token("token", 1);

  const std::string id = "chat-1";  // names the request's random stream
  const tokkos::GenerationConfig config{.temperature = 0.7f, .logit_bias = {{4242, 25.0}}};
  const tokkos::TokenHistory history({128000, 9906});  // the prompt; commit() what is generated
  const tokkos::SequenceState state{.history = &history};
  tokkos::StepRequests step;
  step.generation_configs = {&config, 1};
  step.sequence_states = {&state, 1};
  step.request_ids = {&id, 1};

  tokkos::LogitProcessor<Space> processor(Space(), 1, 128256);
  tokkos::Sampler<Space> sampler(Space(), 1, 128256);
  processor.inplace_update_logits(logits, step);    // bias, penalties, mask
  sampler.sample_from_logits(logits, step, token);  // softmax with temperature, draw
  const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), token);
  std::cout << "token " << drawn(0) << '\n';
}
