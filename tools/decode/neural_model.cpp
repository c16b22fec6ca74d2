// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/neural_model.hpp"

#include "tools/decode/neural_training.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/numerics/portable_tanh.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace tokkos::tools {

std::int64_t NeuralModel::training_batches(std::size_t text_length) {
  constexpr std::int64_t times = 12, most = 2000;
  const auto batches = static_cast<std::int64_t>(text_length / batch_size) + 1;
  return std::min(times * batches, most);
}

NeuralModel::NeuralModel(std::span<const TokenId> text, TokenId vocabulary, std::uint64_t seed,
                         const std::function<void()>& after_each) {
  require(vocabulary >= 1, "vocabulary", std::nullopt, vocabulary, "at least 1");
  require(!text.empty(), "text", std::nullopt, std::int64_t{0}, "at least one token");
  for (std::size_t i = 0; i < text.size(); ++i) {
    require(text[i] >= 0 && text[i] < vocabulary, "text", static_cast<std::int64_t>(i), text[i],
            "a token of the vocabulary");
  }
  const auto words = static_cast<std::size_t>(vocabulary);
  m_embeddings.resize(words * embedding_size);
  m_layer.resize(units * input_size);
  m_bias.resize(units);
  m_output.resize(words * hidden_size);
  NeuralTraining training(text, vocabulary, seed, {m_embeddings, m_layer, m_bias, m_output});
  const std::int64_t batches = training_batches(text.size());
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    training.train(batch);
    if (after_each) after_each();
  }
}

void NeuralModel::hidden(std::span<const TokenId> context, std::span<float> state) const {
  std::array<float, input_size> input;
  for (std::size_t j = 0; j < context_length; ++j) {
    const bool is_there = j + context.size() >= context_length;
    const TokenId token = is_there ? context[j + context.size() - context_length] : 0;
    std::copy_n(m_embeddings.begin() + static_cast<std::ptrdiff_t>(token) * embedding_size,
                embedding_size, input.begin() + j * embedding_size);
  }
  for (std::size_t j = 0; j < units; ++j) {
    float sum = m_bias[j];
    for (std::size_t k = 0; k < input_size; ++k) sum += m_layer[j * input_size + k] * input[k];
    state[j] = portable_tanh(sum);
  }
  state[units] = 1.0f;
}

}  // namespace tokkos::tools
