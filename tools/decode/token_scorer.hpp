// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/decode/model_rows.hpp"
#include "tools/decode/token_score.hpp"

#include <tokkos/batch/logit_rows.hpp>
#include <tokkos/batch/truncation.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/kernels/truncate.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/request/generation_config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace tokkos::tools {

/// Generated tokens, each with the row of logits that it was drawn from, and how.
struct DrawnTokens {
  std::vector<std::int32_t> rows;
  std::vector<TokenId> tokens;
  std::vector<float> temperature;
  std::vector<std::int32_t> top_k;
  std::vector<float> top_p;
  std::vector<float> min_p;
  bool truncated = false;  ///< whether one was drawn from fewer than all words

  void add(std::int32_t row, TokenId token, const GenerationConfig& config) {
    rows.push_back(row);
    tokens.push_back(token);
    temperature.push_back(config.temperature);
    top_k.push_back(config.top_k);
    top_p.push_back(config.top_p);
    min_p.push_back(config.min_p);
    truncated = truncated || config.has_truncation();
  }
};

/// Finds the log-probabilities of generated tokens, reading only the rows that they came from.
template <class ExecutionSpace>
class TokenScorer {
 public:
  using memory_space = MemoryOf<ExecutionSpace>;

  /// @param max_tokens most tokens of one call
  /// @param most_likely how many of the most likely tokens to list with each
  TokenScorer(const ExecutionSpace& space, std::int64_t max_tokens, TokenId vocabulary,
              std::int32_t most_likely)
      : m_space(space),
        m_workspace(max_tokens, vocabulary),
        m_cuts(max_tokens),
        m_rows("tokkos::decode::scored_rows", static_cast<std::size_t>(max_tokens)),
        m_tokens("tokkos::decode::scored_tokens", static_cast<std::size_t>(max_tokens)),
        m_logprobs("tokkos::decode::logprobs", static_cast<std::size_t>(max_tokens)),
        m_top_tokens("tokkos::decode::top_tokens", static_cast<std::size_t>(max_tokens),
                     static_cast<std::size_t>(most_likely)),
        m_top_logprobs("tokkos::decode::top_logprobs", static_cast<std::size_t>(max_tokens),
                       static_cast<std::size_t>(most_likely)),
        m_temperature("tokkos::decode::temperature", static_cast<std::size_t>(max_tokens)),
        m_top_k("tokkos::decode::top_k", static_cast<std::size_t>(max_tokens)),
        m_top_p("tokkos::decode::top_p", static_cast<std::size_t>(max_tokens)),
        m_min_p("tokkos::decode::min_p", static_cast<std::size_t>(max_tokens)) {}

  /// @param logits after edits and mask, which is stored in them
  std::vector<TokenScore> score(const Matrix<const float, memory_space>& logits,
                                const DrawnTokens& drawn) {
    const std::size_t count = drawn.tokens.size();
    if (count == 0) return {};
    LogitRows<float, memory_space> rows;
    rows.logits = logits;
    rows.temperature = uploaded(drawn.temperature, m_temperature);
    rows.row_index = uploaded(drawn.rows, m_rows);
    const auto tokens = uploaded(drawn.tokens, m_tokens);
    const auto measures = m_workspace.measures(static_cast<std::int64_t>(count));
    measure(m_space, rows, measures);
    RowCuts<memory_space> cuts;
    if (drawn.truncated) {
      cuts = m_cuts.cuts(static_cast<std::int64_t>(count));
      const Truncation<memory_space> truncation{uploaded(drawn.top_k, m_top_k),
                                                uploaded(drawn.top_p, m_top_p),
                                                uploaded(drawn.min_p, m_min_p)};
      truncate(m_space, rows, measures, truncation, cuts);
    }
    log_probabilities(m_space, rows, measures, tokens,
                      vector_of<float, memory_space>(m_logprobs.data(), count), cuts);
    const std::size_t columns = m_top_tokens.extent(1);
    if (columns > 0) {
      const Kokkos::LayoutStride listed(count, columns, columns, 1);
      top_log_probabilities(m_space, rows, measures,
                            Matrix<TokenId, memory_space>(m_top_tokens.data(), listed),
                            Matrix<float, memory_space>(m_top_logprobs.data(), listed), cuts);
    }
    return collect(count);
  }

 private:
  template <class T>
  using Array = Kokkos::View<T*, memory_space>;
  template <class T>
  using Rows = Kokkos::View<T**, Kokkos::LayoutRight, memory_space>;

  template <class T>
  Vector<const T, memory_space> uploaded(const std::vector<T>& values, const Array<T>& to) {
    using Host = Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    const std::pair<std::size_t, std::size_t> all(0, values.size());
    Kokkos::deep_copy(m_space, Kokkos::subview(to, all), Host(values.data(), values.size()));
    return vector_of<const T, memory_space>(to.data(), values.size());
  }

  std::vector<TokenScore> collect(std::size_t count) {
    const std::size_t columns = m_top_tokens.extent(1);
    const auto flat = [&](const auto& view) {
      using T = typename std::decay_t<decltype(view)>::value_type;
      const std::size_t size = count * columns;
      using Flat = Kokkos::View<T*, memory_space, Kokkos::MemoryUnmanaged>;
      return to_host(m_space, Flat(view.data(), size), size);
    };
    const auto logprobs = to_host(m_space, m_logprobs, count);
    const auto tokens = flat(m_top_tokens);
    const auto values = flat(m_top_logprobs);
    std::vector<TokenScore> scores(count);
    for (std::size_t i = 0; i < count; ++i) {
      scores[i].log_probability = logprobs[i];
      for (std::size_t j = i * columns; j < (i + 1) * columns && tokens[j] >= 0; ++j) {
        scores[i].most_likely.emplace_back(tokens[j], values[j]);
      }
    }
    return scores;
  }

  ExecutionSpace m_space;
  Workspace<memory_space> m_workspace;
  CutsWorkspace<memory_space> m_cuts;
  Array<std::int32_t> m_rows;
  Array<TokenId> m_tokens;
  Array<float> m_logprobs;
  Rows<TokenId> m_top_tokens;
  Rows<float> m_top_logprobs;
  Array<float> m_temperature;
  Array<std::int32_t> m_top_k;
  Array<float> m_top_p;
  Array<float> m_min_p;
};

}  // namespace tokkos::tools
