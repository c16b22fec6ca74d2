// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tokkos::tools {

/// Parameters of a network, each with the sum of the squares of its gradients.
class AdaGrad {
 public:
  explicit AdaGrad(std::vector<float>& values)
      : m_values(values), m_squares(values.size(), 1e-6f) {}

  std::span<const float> row(std::size_t first, std::size_t count) const {
    return std::span<const float>(m_values).subspan(first, count);
  }

  /// One step against the gradient of the parameters from `first` on.
  void update(std::size_t first, std::span<const float> gradient);

 private:
  std::vector<float>& m_values;
  std::vector<float> m_squares;
};

/// The parameters of a NeuralModel in training.
struct NeuralParameters {
  std::vector<float>& embeddings;
  std::vector<float>& layer;
  std::vector<float>& bias;
  std::vector<float>& output;
};

/// Trains a NeuralModel batch by batch.
class NeuralTraining {
 public:
  /// Sets the parameters, which are all 0, to where training begins: random but for the output,
  /// whose biases are the logarithms of the shares of the words. Text and parameters are referred
  /// to.
  NeuralTraining(std::span<const TokenId> text, TokenId vocabulary, std::uint64_t seed,
                 const NeuralParameters& parameters);

  /// Words of the text chosen by `batch`, and the step that they teach.
  void train(std::int64_t batch);

 private:
  void choose_words(std::int64_t batch);
  void gather();
  void weigh();
  void update();

  Kokkos::DefaultHostExecutionSpace m_host;
  std::span<const TokenId> m_text;
  std::uint64_t m_seed;
  std::vector<float> m_share;  // [vocabulary] of the text, smoothed
  AdaGrad m_embeddings, m_layer, m_bias, m_output;

  // Of the batch in hand.
  std::vector<TokenId> m_contexts;     // [batch, context_length]
  std::vector<TokenId> m_candidates;   // ascending, each once
  std::vector<std::size_t> m_targets;  // [batch] places among the candidates
  std::vector<float> m_input, m_state, m_weights, m_scores;
};

}  // namespace tokkos::tools
