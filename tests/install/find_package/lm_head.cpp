// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Tokkos::lm_head is linked, and multiplies.
#include <tokkos/lm_head/lm_head.hpp>

#include <cstdio>

using Space = Kokkos::DefaultExecutionSpace;

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> weight("weight", 5000, 4);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> hidden("hidden", 1, 4);
  Kokkos::deep_copy(Kokkos::subview(weight, 4242, Kokkos::ALL), 1.0f);
  Kokkos::deep_copy(hidden, 1.0f);
  const Kokkos::View<float*, Space> temperature("temperature", 1), uniforms("uniforms", 1);
  const Kokkos::View<tokkos::TokenId*, Space> tokens("tokens", 1);
  for (const auto product : {tokkos::LmHeadProduct::fixed_order, tokkos::LmHeadProduct::gemm}) {
    const tokkos::LmHead<Space, float> head(Space(), weight, 1, {.product = product});
    head.process({.hidden = hidden, .temperature = temperature},
                 {.uniforms = uniforms, .tokens = tokens});
    const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tokens);
    std::printf("token %d\n", drawn(0));
    if (drawn(0) != 4242) return 1;
  }
}
