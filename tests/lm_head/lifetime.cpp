// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// An LM head and its processor may be destroyed after Kokkos is finalized; until then they refuse
// to work. Exits with the number of broken promises.
#include <tokkos/core/error.hpp>
#include <tokkos/lm_head/lm_head_processor.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using MemorySpace = tokkos::MemoryOf<Space>;
using Head = tokkos::LmHead<Space, float>;
template <class T>
using Rows = Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace>;

int broken = 0;

void check(bool holds, const char* promise) {
  if (holds) return;
  std::printf("broken: %s\n", promise);
  ++broken;
}

template <class Function>
bool is_refused(Function&& function) {
  try {
    function();
  } catch (const tokkos::Error& error) {
    std::printf("refused: %s\n", error.what());
    return error.field() == "Kokkos";
  }
  return false;
}

/// One step of a head and of its processor, with all that they allocate.
void step(const Head& head, tokkos::LmHeadProcessor<Space, float>& processor) {
  const Rows<float> hidden("hidden", 2, 16);
  const Rows<float> logits("logits", 2, 100);
  const Kokkos::View<tokkos::TokenId*, MemorySpace> tokens("tokens", 2);
  const std::vector<tokkos::GenerationConfig> configs(2);
  const tokkos::TokenHistory history;
  const std::vector<tokkos::SequenceState> states(2, {.history = &history});
  const std::vector<std::string> ids{"a", "b"};
  head.logits(hidden, logits);
  processor.process(hidden,
                    {.generation_configs = configs, .sequence_states = states, .request_ids = ids},
                    {.tokens = tokens});
  const auto drawn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tokens);
  check(drawn(0) >= 0 && drawn(0) < 100, "a step works");
}

}  // namespace

int main(int argc, char* argv[]) {
  std::optional<Head> fixed_order, gemm;
  std::optional<tokkos::LmHeadProcessor<Space, float>> processor;
  Kokkos::initialize(argc, argv);
  {
    const Rows<float> weight("weight", 100, 16);
    fixed_order.emplace(Space(), weight, 4);
    gemm.emplace(Space(), weight, 4, tokkos::LmHeadOptions{.product = tokkos::LmHeadProduct::gemm});
    processor.emplace(*fixed_order);
    step(*fixed_order, *processor);
    processor.emplace(*gemm);
    step(*gemm, *processor);
  }
  Kokkos::finalize();
  const tokkos::Matrix<const float, MemorySpace> no_hidden;
  const tokkos::Matrix<float, MemorySpace> no_logits;
  for (const Head* head : {&*fixed_order, &*gemm}) {
    check(is_refused([&] { head->process({}, {}); }), "no step after Kokkos");
    check(is_refused([&] { head->logits(no_hidden, no_logits); }), "no logits after Kokkos");
    check(is_refused([&] { tokkos::LmHeadProcessor<Space, float> none(*head); }),
          "no processor after Kokkos");
  }
  check(is_refused([&] { processor->process(no_hidden, {}, {}); }), "no requests after Kokkos");
  processor.reset();
  gemm.reset();
  fixed_order.reset();
  std::printf("%d promises broken\n", broken);
  return broken;
}
