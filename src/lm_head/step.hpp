// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/lm_head/lm_head_options.hpp>
#include <tokkos/lm_head/lm_head_step.hpp>

#include "lm_head/block_steps.hpp"
#include "lm_head/draw_chosen.hpp"
#include "lm_head/fixed_order.hpp"
#include "lm_head/gemm.hpp"
#include "lm_head/pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tokkos {

/// Arrays of a number for each row: five of the draw (DrawPlaces), and the rows by piece.
inline constexpr std::int64_t places_per_row = 6;

/// Pieces of a row that a step forgets: of all chunks but those of the block of the lowest ids.
inline std::int64_t forgotten_pieces(const LmHeadOptions& options) {
  const std::int64_t whole = chunk_count(options.active_vocabulary) * chunk_size;
  return (whole - options.block_tokens) / piece_size;
}

/// One step: what it is given, and where things stand in memory.
template <class ExecutionSpace, LogitType Weight>
class LmHeadStep {
 public:
  using Space = MemoryOf<ExecutionSpace>;

  LmHeadStep(const ExecutionSpace& space, const Matrix<const Weight, Space>& weight,
             const LmHeadOptions& options, const LmHeadInputs<Space>& inputs,
             const LmHeadOutputs<Space>& outputs)
      : m_space(space),
        m_weight(weight),
        m_options(options),
        m_inputs(inputs),
        m_outputs(outputs),
        m_count(inputs.hidden.extent(0)),
        m_vocabulary(static_cast<std::int64_t>(weight.extent(0))) {
    const Kokkos::LayoutStride layout(m_count, weight.extent(0), weight.extent(0), 1);
    m_rows.logits = Matrix<const float, Space>(nullptr, layout);
    m_rows.temperature = inputs.temperature;
    m_rows.bitmask = inputs.bitmask;
    m_rows.active_vocabulary = options.active_vocabulary;
  }

  void run(float* logits, std::int64_t* places, std::int64_t max_rows, std::int64_t* pieces,
           const GemmRoom& room, const RowMeasures<Space>& measures) {
    m_room = room;
    m_measures = measures;
    if (draws() && forgotten_pieces(m_options) > 0) m_pieces = pieces_at(pieces);
    clear_results(m_space, m_outputs);
    const std::int64_t size = m_options.block_tokens;
    const std::int64_t last = (m_options.active_vocabulary - 1) / size * size;
    for (std::int64_t first = last; first >= 0; first -= size) {
      const std::int64_t tokens = std::min(size, m_options.active_vocabulary - first);
      stream(window_of(logits, first, tokens));
    }
    sum_rows(m_space, m_rows, m_measures, m_outputs.row_status);
    if (draws()) draw(logits, places, max_rows);
    finish_results(m_space, m_rows, m_measures, m_outputs);
  }

 private:
  bool draws() const { return m_outputs.tokens.data() != nullptr; }

  PieceMasses<Space> pieces_at(std::int64_t* memory) const {
    const auto columns = static_cast<std::size_t>(forgotten_pieces(m_options));
    const Kokkos::LayoutStride layout(m_count, columns, columns, 1);
    return {Matrix<std::int64_t, Space>(memory, layout), m_options.block_tokens / chunk_size};
  }

  /// The first `tokens` columns of the block in memory.
  LogitWindow<Space> window_of(float* logits, std::int64_t first, std::int64_t tokens) const {
    const auto stride = static_cast<std::size_t>(m_options.block_tokens);
    const Kokkos::LayoutStride layout(m_count, stride, static_cast<std::size_t>(tokens), 1);
    LogitWindow<Space> window{Matrix<float, Space>(logits, layout), m_vocabulary, first};
    window.is_last = first + tokens == m_options.active_vocabulary;
    return window;
  }

  /// The block of a window, as kernels of whole rows see it.
  LogitBlock<Space> block_of(const LogitWindow<Space>& window) const {
    LogitBlock<Space> block{m_rows, m_measures, window.first};
    block.rows.logits = window.logits;
    block.rows.active_vocabulary = static_cast<std::int64_t>(window.logits.extent(1));
    const auto& words = m_inputs.bitmask.words;
    if (words.data() != nullptr) {
      const auto skipped = static_cast<std::size_t>(window.first / 32);
      const Kokkos::LayoutStride layout(words.extent(0), words.stride(0), words.extent(1) - skipped,
                                        1);
      block.rows.bitmask.words = Matrix<const std::int32_t, Space>(words.data() + skipped, layout);
    }
    const std::int64_t chunk = window.first / chunk_size;
    const auto chunks = static_cast<std::size_t>(chunk_count(block.rows.active()));
    const auto stride = m_measures.chunk_sum.stride(0);
    const Kokkos::LayoutStride layout(m_count, stride, chunks, 1);
    block.measures.chunk_maximum =
        Matrix<float, Space>(m_measures.chunk_maximum.data() + chunk, layout);
    block.measures.chunk_sum =
        Matrix<std::int64_t, Space>(m_measures.chunk_sum.data() + chunk, layout);
    return block;
  }

  void stream(const LogitWindow<Space>& window) const {
    const auto tokens = static_cast<std::int64_t>(window.logits.extent(1));
    if (m_options.product == LmHeadProduct::gemm) {
      gemm_block<ExecutionSpace, Weight>(m_space, m_inputs.hidden, m_weight, window.first, tokens,
                                         window.logits, m_room);
    } else {
      multiply_block<ExecutionSpace, Weight>(m_space, m_inputs.hidden, m_weight, window.first,
                                             tokens, window.logits);
    }
    finish_logits(m_space, m_options, window);
    edit_logits(m_space, window, m_inputs, m_outputs.row_status);
    const LogitBlock<Space> block = block_of(window);
    measure_block(m_space, block, m_pieces);
    keep_given(m_space, block, m_outputs);
    keep_top(m_space, block, m_outputs);
  }

  void draw(float* logits, std::int64_t* memory, std::int64_t max_rows) const {
    const auto place = [&](std::int64_t number) {
      return vector_of<std::int64_t, Space>(memory + number * max_rows, m_count);
    };
    const DrawPlaces<Space> places{place(0), place(1), place(2), place(3), place(4)};
    choose_places(m_space, m_rows, m_measures, m_pieces, m_outputs, places);
    const std::int64_t kept = std::min(m_options.block_tokens, m_options.active_vocabulary);
    if (kept < m_options.active_vocabulary) compute_again(logits, places);
    draw_chosen(m_space, m_rows, m_measures, places, window_of(logits, 0, kept), m_outputs);
  }

  /// Chosen pieces that are forgotten, at the beginning of their rows.
  void compute_again(float* logits, const DrawPlaces<Space>& places) const {
    LogitWindow<Space> window = window_of(logits, 0, piece_size);
    window.starts = places.start;
    window.first_start = m_options.block_tokens;
    if (m_options.product == LmHeadProduct::gemm) {
      gemm_chosen<ExecutionSpace, Weight>(m_space, m_inputs.hidden, m_weight,
                                          m_options.active_vocabulary, window, m_room);
    } else {
      multiply_chosen<ExecutionSpace, Weight>(m_space, m_inputs.hidden, m_weight,
                                              m_options.active_vocabulary, window);
    }
    finish_logits(m_space, m_options, window);
    edit_logits(m_space, window, m_inputs, m_outputs.row_status);
  }

  const ExecutionSpace& m_space;
  const Matrix<const Weight, Space>& m_weight;
  const LmHeadOptions& m_options;
  const LmHeadInputs<Space>& m_inputs;
  const LmHeadOutputs<Space>& m_outputs;
  std::size_t m_count;  ///< of rows
  std::int64_t m_vocabulary;
  LogitRows<float, Space> m_rows;  ///< what is said of whole rows
  RowMeasures<Space> m_measures;
  PieceMasses<Space> m_pieces;
  GemmRoom m_room;
};

}  // namespace tokkos
