// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/neural_training.hpp"

#include "tools/decode/neural_model.hpp"

#include <tokkos/numerics/philox.hpp>
#include <tokkos/numerics/portable_exp.hpp>
#include <tokkos/numerics/portable_log.hpp>
#include <tokkos/numerics/portable_tanh.hpp>

#include <KokkosBlas3_gemm.hpp>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tokkos::tools {

namespace {

constexpr std::size_t batch_size = NeuralModel::batch_size;
constexpr std::size_t context_length = NeuralModel::context_length;
constexpr std::size_t embedding_size = NeuralModel::embedding_size;
constexpr std::size_t input_size = NeuralModel::input_size;
constexpr std::size_t hidden_size = NeuralModel::hidden_size;
constexpr std::size_t units = NeuralModel::units;
constexpr std::size_t sampled = 64;  // words beside those of the batch
constexpr float learning_rate = 0.1f;

// What random numbers are for.
enum class Draw : std::uint32_t { word, sample, embedding, layer };

std::uint32_t random_word(std::uint64_t seed, Draw draw, std::int64_t batch, std::size_t i) {
  return Philox(seed, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(batch),
                static_cast<std::uint32_t>(draw), 0x6e65u)
      .word[0];
}

void fill_random(std::vector<float>& values, float scale, std::uint64_t seed, Draw draw) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto word = static_cast<float>(random_word(seed, draw, 0, i) >> 8);
    values[i] = scale * (word * 0x1p-23f - 1.0f);
  }
}

using Operand =
    Kokkos::View<const float**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
using Product =
    Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

// Rows of a parameter or of a batch.
Operand rows_of(std::span<const float> values, std::size_t width) {
  return Operand(values.data(), values.size() / width, width);
}

// One thread: products as small as these would only wait for others. A template, as only OpenMP can
// be made with a number of threads.
template <class Host = Kokkos::DefaultHostExecutionSpace>
Host one_thread() {
  if constexpr (std::is_constructible_v<Host, int>) {
    return Host(1);
  } else {
    return Host();
  }
}

// a b, with "T" for the transpose of either.
std::vector<float> product(const Kokkos::DefaultHostExecutionSpace& host, const char* of_a,
                           const char* of_b, const Operand& a, const Operand& b) {
  const std::size_t rows = of_a[0] == 'T' ? a.extent(1) : a.extent(0);
  const std::size_t columns = of_b[0] == 'T' ? b.extent(0) : b.extent(1);
  std::vector<float> result(rows * columns);
  KokkosBlas::gemm(host, of_a, of_b, 1.0f, a, b, 0.0f, Product(result.data(), rows, columns));
  host.fence("tokkos::decode::product");
  return result;
}

}  // namespace

void AdaGrad::update(std::size_t first, std::span<const float> gradient) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    float& square = m_squares[first + i];
    square = square + gradient[i] * gradient[i];
    m_values[first + i] -= learning_rate * gradient[i] / std::sqrt(square);
  }
}

NeuralTraining::NeuralTraining(std::span<const TokenId> text, TokenId vocabulary,
                               std::uint64_t seed, const NeuralParameters& parameters)
    : m_host(one_thread()),
      m_text(text),
      m_seed(seed),
      m_share(static_cast<std::size_t>(vocabulary), 0.5f),
      m_embeddings(parameters.embeddings),
      m_layer(parameters.layer),
      m_bias(parameters.bias),
      m_output(parameters.output) {
  fill_random(parameters.embeddings, 0.3f, seed, Draw::embedding);
  fill_random(parameters.layer, 0.25f, seed, Draw::layer);
  for (const TokenId token : text) m_share[static_cast<std::size_t>(token)] += 1.0f;
  const float all = static_cast<float>(text.size()) + 0.5f * static_cast<float>(vocabulary);
  for (std::size_t v = 0; v < m_share.size(); ++v) {
    m_share[v] /= all;
    parameters.output[v * hidden_size + units] = portable_log(m_share[v]);
  }
}

void NeuralTraining::train(std::int64_t batch) {
  choose_words(batch);
  gather();
  weigh();
  update();
}

// Words of the batch with what stands before them, and the words that they are told from.
void NeuralTraining::choose_words(std::int64_t batch) {
  const auto place = [&](Draw draw, std::size_t i) {
    return random_word(m_seed, draw, batch, i) % m_text.size();
  };
  std::vector<TokenId> words;
  m_contexts.assign(batch_size * context_length, 0);
  for (std::size_t i = 0; i < batch_size; ++i) {
    const std::size_t at = place(Draw::word, i);
    words.push_back(m_text[at]);
    for (std::size_t j = 1; j <= std::min(at, context_length); ++j) {
      m_contexts[(i + 1) * context_length - j] = m_text[at - j];
    }
  }
  m_candidates = words;
  for (std::size_t i = 0; i < sampled; ++i) m_candidates.push_back(m_text[place(Draw::sample, i)]);
  std::ranges::sort(m_candidates);
  const auto [end, last] = std::ranges::unique(m_candidates);
  m_candidates.erase(end, last);
  m_targets.clear();
  for (const TokenId word : words) {
    m_targets.push_back(static_cast<std::size_t>(std::ranges::lower_bound(m_candidates, word) -
                                                 m_candidates.begin()));
  }
}

// Input, hidden states and the candidates' weights.
void NeuralTraining::gather() {
  m_input.clear();
  for (const TokenId token : m_contexts) {
    const auto row =
        m_embeddings.row(static_cast<std::size_t>(token) * embedding_size, embedding_size);
    m_input.insert(m_input.end(), row.begin(), row.end());
  }
  const auto bias = m_bias.row(0, units);
  const std::vector<float> sums = product(m_host, "N", "T", rows_of(m_input, input_size),
                                          rows_of(m_layer.row(0, units * input_size), input_size));
  m_state.clear();
  for (std::size_t i = 0; i < batch_size; ++i) {
    for (std::size_t j = 0; j < units; ++j) {
      m_state.push_back(portable_tanh(sums[i * units + j] + bias[j]));
    }
    m_state.push_back(1.0f);
  }
  m_weights.clear();
  for (const TokenId token : m_candidates) {
    const auto row = m_output.row(static_cast<std::size_t>(token) * hidden_size, hidden_size);
    m_weights.insert(m_weights.end(), row.begin(), row.end());
  }
}

// Softmax over the candidates, less 1 at the target, a share of the batch each: the gradients of
// the logits. A word that is often among the candidates is corrected for that.
void NeuralTraining::weigh() {
  const std::size_t width = m_candidates.size();
  m_scores =
      product(m_host, "N", "T", rows_of(m_state, hidden_size), rows_of(m_weights, hidden_size));
  for (std::size_t i = 0; i < batch_size; ++i) {
    const std::span<float> row = std::span(m_scores).subspan(i * width, width);
    for (std::size_t c = 0; c < width; ++c) {
      const float share = m_share[static_cast<std::size_t>(m_candidates[c])];
      row[c] -= portable_log(std::min(1.0f, static_cast<float>(batch_size + sampled) * share));
    }
    const float maximum = *std::ranges::max_element(row);
    float sum = 0.0f;
    for (float& x : row) {
      x = portable_exp(x - maximum);
      sum += x;
    }
    for (float& x : row) x /= sum * static_cast<float>(batch_size);
    row[m_targets[i]] -= 1.0f / static_cast<float>(batch_size);
  }
}

void NeuralTraining::update() {
  const Operand scores = rows_of(m_scores, m_candidates.size());
  const std::vector<float> of_weights =
      product(m_host, "T", "N", scores, rows_of(m_state, hidden_size));
  const std::vector<float> of_state =
      product(m_host, "N", "N", scores, rows_of(m_weights, hidden_size));
  std::vector<float> of_sums;
  std::vector<float> of_bias(units, 0.0f);
  for (std::size_t i = 0; i < batch_size; ++i) {
    for (std::size_t j = 0; j < units; ++j) {
      const float state = m_state[i * hidden_size + j];
      of_sums.push_back(of_state[i * hidden_size + j] * (1.0f - state * state));
      of_bias[j] += of_sums.back();
    }
  }
  const Operand sums = rows_of(of_sums, units);
  const std::vector<float> of_layer = product(m_host, "T", "N", sums, rows_of(m_input, input_size));
  const std::vector<float> of_input =
      product(m_host, "N", "N", sums, rows_of(m_layer.row(0, units * input_size), input_size));

  m_layer.update(0, of_layer);
  m_bias.update(0, of_bias);
  for (std::size_t c = 0; c < m_candidates.size(); ++c) {
    m_output.update(static_cast<std::size_t>(m_candidates[c]) * hidden_size,
                    std::span(of_weights).subspan(c * hidden_size, hidden_size));
  }
  for (std::size_t i = 0; i < m_contexts.size(); ++i) {
    m_embeddings.update(static_cast<std::size_t>(m_contexts[i]) * embedding_size,
                        std::span(of_input).subspan(i * embedding_size, embedding_size));
  }
}

}  // namespace tokkos::tools
