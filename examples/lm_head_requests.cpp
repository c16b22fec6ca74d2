// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Requests through an LM head: their penalties, biases, lists and random streams, and the most
// likely tokens with their log-probabilities, without a row of logits in memory.

#include <tokkos/lm_head/lm_head_processor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;

template <class T>
using Values = Kokkos::View<T*, Space>;
template <class T>
using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Space>;

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  constexpr std::size_t size = 13, vocabulary = 8192, max_rows = 64, top = 3;
  const Rows<tokkos::bfloat16> weight("weight", vocabulary, size);
  const auto weight_host = Kokkos::create_mirror_view(weight);
  for (std::size_t v = 0; v < vocabulary; ++v) {
    for (std::size_t k = 0; k < size; ++k)  // token v's weights are the bits of v
      weight_host(v, k) = tokkos::bfloat16::narrow((v >> k & 1) != 0 ? 4.0f : -4.0f);
  }
  Kokkos::deep_copy(weight, weight_host);
  const Rows<float> hidden("hidden", 2, size);
  const auto hidden_host = Kokkos::create_mirror_view(hidden);
  for (std::size_t k = 0; k < size; ++k) {  // token 8191 is the most likely one, then 8190
    hidden_host(0, k) = hidden_host(1, k) = 0.125f * static_cast<float>(k + 1);
  }
  Kokkos::deep_copy(hidden, hidden_host);

  // begin engine
  // Once: the head refers to the weights, the processor to the head.
  const tokkos::LmHead<Space, tokkos::bfloat16> head(Space(), weight, max_rows);
  tokkos::LmHeadProcessor processor(head);

  // What an engine keeps of its requests.
  const std::vector<std::string> ids = {"chat-1", "chat-2"};
  std::vector<tokkos::GenerationConfig> configs(2);
  configs[0].temperature = 0.0f;
  configs[0].repetition_penalty = 1.2f;
  configs[1].seed = 42;
  configs[1].allowed_token_ids = {7};
  std::vector<tokkos::TokenHistory> histories(2);
  histories[0].commit(8191);
  std::vector<tokkos::SequenceState> states;
  for (const tokkos::TokenHistory& history : histories) states.push_back({&history});

  // Each step, when the hidden states [n, d] are there.
  const Values<tokkos::TokenId> tokens("tokens", 2);
  const Values<float> logprobs("logprobs", 2);
  const Rows<tokkos::TokenId> top_tokens("top_tokens", 2, top);
  const Rows<float> top_logprobs("top_logprobs", 2, top);
  const Values<std::int32_t> status("status", 2);
  processor.process(hidden,
                    {.generation_configs = configs, .sequence_states = states, .request_ids = ids},
                    {.tokens = tokens,
                     .token_logprobs = logprobs,
                     .top_tokens = top_tokens,
                     .top_logprobs = top_logprobs,
                     .row_status = status});

  const auto drawn = on_host(tokens);  // waits
  for (std::size_t i = 0; i < 2; ++i) histories[i].commit(drawn(i));
  // end engine

  const auto drawn_logprobs = on_host(logprobs);
  const auto listed = on_host(top_tokens);
  for (std::size_t i = 0; i < 2; ++i) {
    std::printf("%s: token %d, %.3f, behind it %d %d\n", ids[i].c_str(), drawn(i),
                drawn_logprobs(i), listed(i, 1), listed(i, 2));
  }
}
