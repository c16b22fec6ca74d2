// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The kernels alone, on Views of the caller's: mask two rows of logits, turn them into
// probabilities in place, and draw a token of each. Row 0 may only take token 1 or token 3, which
// are equally likely; row 1 may take any.

#include <tokkos/tokkos.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
constexpr std::size_t rows = 2, vocabulary = 6;

template <class T>
Kokkos::View<T*, Space> on_device(const std::vector<T>& values) {
  const Kokkos::View<T*, Space> view("values", values.size());
  const auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < values.size(); ++i) host(i) = values[i];
  Kokkos::deep_copy(view, host);
  return view;
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Space space;
  const auto values = on_device<float>({3, 2, 1, 2, -1, -2, 3, 2, 1, 0, -1, -2});
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> logits(values.data(), rows, vocabulary);
  const auto words = on_device<std::int32_t>({1 << 1 | 1 << 3, -1});  // bit v: token v may come
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Space> bitmask(words.data(), rows, 1);
  const auto masked_rows = on_device<std::int32_t>({0});
  const auto temperatures = on_device<float>({0.5f, 1.0f});
  const auto uniforms = on_device<float>({0.75f, 0.7f});
  const Kokkos::View<tokkos::TokenId*, Space> tokens("tokens", rows);
  const Kokkos::View<std::int32_t*, Space> status("status", rows);
  const tokkos::Workspace<Space::memory_space> workspace(rows, vocabulary);

  tokkos::apply_bitmask_inplace(space, logits, masked_rows, bitmask, {}, status);
  tokkos::softmax_with_temperature(space, logits, temperatures, logits, workspace, status);
  tokkos::sample_from_probabilities(space, logits, uniforms, tokens, status);
  space.fence("example::step::done");

  const auto probabilities = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), logits);
  const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tokens);
  const auto bits = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), status);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t v = 0; v < vocabulary; ++v) std::printf("%.4f ", probabilities(i, v));
    std::printf("token %d, status %d\n", drawn(i), bits(i));
  }
}
