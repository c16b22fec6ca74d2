// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tokkos::tools {

/// A language model of one hidden layer (Bengio, Ducharme, Vincent, Jauvin: A neural probabilistic
/// language model, 2003): the embeddings of the last four words, one layer of tanh, and a weight
/// vector per word, whose product with the layer is the word's logit. The layer's last unit is
/// always 1, so that a word's last weight is its bias.
///
/// Trained in the constructor by AdaGrad on a softmax over the words of a batch and a sample of
/// others. Kokkos Kernels does the products, with one thread of the host; everything else is basic
/// arithmetic in a fixed order: the same weights for the same text and seed, wherever its products
/// have the same bits.
class NeuralModel {
 public:
  static constexpr std::size_t context_length = 4;
  static constexpr std::size_t embedding_size = 16;
  static constexpr std::size_t hidden_size = 32;
  static constexpr std::size_t input_size = context_length * embedding_size;
  /// Units that are computed.
  static constexpr std::size_t units = hidden_size - 1;
  static constexpr std::size_t batch_size = 64;  ///< words

  /// @param text tokens in [0, vocabulary), not empty
  /// @param after_each called after each of training_batches(text.size()) batches
  /// @throws Error if a number is out of range
  NeuralModel(std::span<const TokenId> text, TokenId vocabulary, std::uint64_t seed,
              const std::function<void()>& after_each = {});

  /// Batches that a text is trained with: twelve times through, at most 2000.
  static std::int64_t training_batches(std::size_t text_length);

  TokenId vocabulary() const { return static_cast<TokenId>(m_output.size() / hidden_size); }

  /// The hidden state after a context.
  /// @param context the last tokens, oldest first; those before the first are taken for token 0
  /// @param state [hidden_size]
  void hidden(std::span<const TokenId> context, std::span<float> state) const;

  /// The weights [vocabulary, hidden_size].
  std::span<const float> output() const { return m_output; }

 private:
  std::vector<float> m_embeddings;  // [vocabulary, embedding_size]
  std::vector<float> m_layer;       // [units, input_size]
  std::vector<float> m_bias;        // [units]
  std::vector<float> m_output;      // [vocabulary, hidden_size]
};

}  // namespace tokkos::tools
