// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Logits of a framework that speaks DLPack (PyTorch, NumPy, CuPy), taken without a copy.
#include <tokkos/interop/dlpack.hpp>
#include <tokkos/tokkos.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace {

// begin draw
/// A token for each row of the tensor that a capsule named "dltensor_versioned" holds, which stays
/// the framework's: it calls the deleter when the work on `space` is done.
template <class Space>
void draw(const Space& space, const DLManagedTensorVersioned& managed,
          const tokkos::StepRequests& step,
          const Kokkos::View<tokkos::TokenId*, typename Space::memory_space>& tokens) {
  const tokkos::DlpackTensor tensor("logits", managed);
  const auto logits = tensor.template matrix<tokkos::bfloat16>(space);
  tokkos::LogitProcessor processor(space, logits.extent(0), logits.extent(1));
  processor.process(logits, step, {.tokens = tokens});
}
// end draw

}  // namespace

int main() {
  const Kokkos::ScopeGuard kokkos;
  // What a framework hands over: 2 rows of 5 logits in host memory, 8 apart.
  std::vector<tokkos::bfloat16> memory(16, tokkos::bfloat16(0.0f));
  std::int64_t shape[] = {2, 5}, strides[] = {8, 1};
  DLManagedTensorVersioned managed{};
  managed.version = {1, 0};
  managed.dl_tensor = {memory.data(), {kDLCPU, 0}, 2, {kDLBfloat, 16, 1}, shape, strides, 0};

  const std::vector<tokkos::GenerationConfig> configs(2, {.logit_bias = {{3, 30.0}}});
  const std::vector<std::string> ids{"chat-1", "chat-2"};
  const std::vector<tokkos::TokenHistory> histories(2, tokkos::TokenHistory({1, 2}));
  const std::vector<tokkos::SequenceState> states{{.history = &histories[0]},
                                                  {.history = &histories[1]}};
  const Kokkos::View<tokkos::TokenId*, Kokkos::HostSpace> tokens("tokens", 2);
  draw(Kokkos::Serial(), managed, {configs, states, ids}, tokens);
  std::cout << "tokens " << tokens(0) << ' ' << tokens(1) << '\n';
}
