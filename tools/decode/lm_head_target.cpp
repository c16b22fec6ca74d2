// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/lm_head_target.hpp"

#include "tools/decode/head_target.hpp"
#include "tools/decode/neural_model.hpp"

namespace tokkos::tools {

void require_lm_head() {}

std::int64_t lm_head_batches(std::size_t text_length) {
  return NeuralModel::training_batches(text_length);
}

std::shared_ptr<TargetModel<Kokkos::DefaultExecutionSpace>> make_lm_head_target(
    std::span<const TokenId> text, TokenId vocabulary, std::uint64_t seed, std::int64_t max_rows,
    const std::function<void()>& after_each) {
  return std::make_shared<HeadTarget<Kokkos::DefaultExecutionSpace>>(
      Kokkos::DefaultExecutionSpace(), NeuralModel(text, vocabulary, seed, after_each), max_rows);
}

}  // namespace tokkos::tools
