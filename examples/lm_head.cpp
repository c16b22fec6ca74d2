// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// From hidden states to tokens without a row of logits in memory: two rows, of which the first may
// not take the token that it would. Built where Tokkos has its component lm_head.

// begin include
#include <tokkos/lm_head/lm_head.hpp>  // not a part of <tokkos/tokkos.hpp>
// end include

#include <cstddef>
#include <cstdint>
#include <cstdio>

using Space = Kokkos::DefaultExecutionSpace;

template <class T>
using Values = Kokkos::View<T*, Space>;

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  constexpr std::size_t rows = 2, size = 8, vocabulary = 8192;
  const Kokkos::View<tokkos::bfloat16**, Kokkos::LayoutRight, Space> weight("weight", vocabulary,
                                                                            size);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> hidden("hidden", rows, size);
  const auto weight_host = Kokkos::create_mirror_view(weight);
  for (std::size_t v = 0; v < vocabulary; ++v) {
    for (std::size_t k = 0; k < size; ++k)  // token v's weights are the bits of v
      weight_host(v, k) = tokkos::bfloat16::narrow((v >> k & 1) != 0 ? 1.0f : -1.0f);
  }
  Kokkos::deep_copy(weight, weight_host);
  Kokkos::deep_copy(hidden, 1.0f);  // so that token 255 is the first of the most likely ones

  const Values<float> temperature("temperature", 1), uniforms("uniforms", rows);  // 0: greedy
  const Values<tokkos::TokenId> tokens("tokens", rows);
  const Values<float> log_sum_exp("log_sum_exp", rows);
  const Values<std::int32_t> status("status", rows);
  const Values<std::int32_t> bias_rows("bias_rows", 1), bias_tokens("bias_tokens", 1);
  const Values<float> bias_values("bias_values", 1);
  Kokkos::deep_copy(bias_tokens, 255);
  Kokkos::deep_copy(bias_values, -1.0f);  // of row 0
  const tokkos::LogitBiasEdits<Space::memory_space> biases = {bias_rows, bias_tokens, bias_values};

  // begin process
  tokkos::LmHead<Space, tokkos::bfloat16> head(Space(), weight, rows, {.soft_cap = 30.0f});
  head.process(
      {.hidden = hidden, .temperature = temperature, .biases = biases},
      {.uniforms = uniforms, .tokens = tokens, .log_sum_exp = log_sum_exp, .row_status = status});
  // end process

  const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tokens);
  std::printf("tokens %d %d\n", drawn(0), drawn(1));
}
