// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Log-probabilities of a prompt's tokens, as scoring and perplexity need them: each in the row of
// the token before it, with the model's most likely tokens beside it. No probability is written.

#include <tokkos/tokkos.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Logits = Kokkos::View<float**, Kokkos::LayoutRight, Space>;

int main() {
  const Kokkos::ScopeGuard kokkos;
  constexpr std::int64_t vocabulary = 8, listed = 2;
  const std::vector<tokkos::TokenId> prompt = {1, 5, 2, 7};
  const auto n = static_cast<std::int64_t>(prompt.size()) - 1;  // the first token has no row
  const Logits logits("logits", static_cast<std::size_t>(n), vocabulary);
  const auto model = Kokkos::create_mirror_view(logits);
  for (std::int64_t i = 0; i < n; ++i) {
    for (int v = 0; v < vocabulary; ++v) model(i, v) = 0.5f * static_cast<float>(v);
  }
  Kokkos::deep_copy(logits, model);

  // begin score
  const Kokkos::View<tokkos::TokenId*, Space> next("next", static_cast<std::size_t>(n));
  const auto next_on_host = Kokkos::create_mirror_view(next);
  for (std::int64_t i = 0; i < n; ++i) next_on_host(i) = prompt[static_cast<std::size_t>(i + 1)];
  Kokkos::deep_copy(next, next_on_host);
  const Kokkos::View<float*, Space> one("temperature", 1);  // one for all rows
  Kokkos::deep_copy(one, 1.0f);

  const Space space;
  tokkos::LogitRows<float, Memory> rows;
  rows.logits = logits;
  rows.temperature = one;
  const tokkos::Workspace<Memory> workspace(n, vocabulary);
  const Kokkos::View<float*, Space> scores("scores", static_cast<std::size_t>(n));
  const Kokkos::View<tokkos::TokenId**, Kokkos::LayoutRight, Space> top_tokens(
      "top_tokens", static_cast<std::size_t>(n), listed);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> top_scores(
      "top_scores", static_cast<std::size_t>(n), listed);
  tokkos::measure(space, rows, workspace.measures(n));
  tokkos::log_probabilities(space, rows, workspace.measures(n),
                            tokkos::Vector<const tokkos::TokenId, Memory>(next),
                            tokkos::Vector<float, Memory>(scores));
  tokkos::top_log_probabilities(space, rows, workspace.measures(n),
                                tokkos::Matrix<tokkos::TokenId, Memory>(top_tokens),
                                tokkos::Matrix<float, Memory>(top_scores));
  // end score

  const auto score = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), scores);
  const auto top = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), top_tokens);
  double sum = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    std::printf("token %d: %.4f, most likely %d and %d\n", next_on_host(i),
                static_cast<double>(score(i)), top(i, 0), top(i, 1));
    sum += static_cast<double>(score(i));
  }
  std::printf("perplexity %.4f\n", std::exp(-sum / static_cast<double>(n)));
}
