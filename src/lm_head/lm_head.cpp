// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/lm_head/lm_head.hpp>

#include "kernels/instantiate.hpp"
#include "lm_head/block_steps.hpp"
#include "lm_head/check_step.hpp"
#include "lm_head/draw_chosen.hpp"
#include "lm_head/fixed_order.hpp"
#include "lm_head/gemm.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

namespace tokkos {

namespace {

/// Bytes of the logits of a block, if the caller does not say how long it is to be.
constexpr std::int64_t block_bytes = std::int64_t{8} << 20;

/// Arrays of a number for each row: three of the draw, and the rows by chunk.
constexpr std::int64_t places_per_row = 4;

template <LogitType Weight, class Space>
LmHeadOptions completed(LmHeadOptions options, const Matrix<const Weight, Space>& weight,
                        std::int64_t max_rows) {
  check_lm_head(weight, max_rows, options);
  const auto vocabulary = static_cast<std::int64_t>(weight.extent(0));
  if (options.active_vocabulary == 0) options.active_vocabulary = vocabulary;
  if (options.block_tokens == 0) {
    const std::int64_t chunk_bytes =
        std::max<std::int64_t>(max_rows, 1) * chunk_size * sizeof(float);
    options.block_tokens = std::max<std::int64_t>(block_bytes / chunk_bytes, 1) * chunk_size;
  }
  const std::int64_t whole = chunk_count(options.active_vocabulary) * chunk_size;
  options.block_tokens = std::min(options.block_tokens, whole);
  return options;
}

/// Where the parts of an LmHead's memory begin, in floats.
struct Room {
  std::int64_t hidden;   ///< before it: a block's logits
  std::int64_t logits;   ///< of chosen chunks
  std::int64_t weights;  ///< widened
  std::int64_t end;

  Room(const LmHeadOptions& options, std::int64_t rows, std::int64_t size, bool widens) {
    const bool by_gemm = options.product == LmHeadProduct::gemm;
    hidden = rows * options.block_tokens;
    logits = hidden + (by_gemm ? rows * size : 0);
    weights = logits + (by_gemm ? rows * chunk_size : 0);
    end = weights + (by_gemm && widens ? size * chunk_size : 0);
  }
};

/// One step: what it is given, and where things stand in memory.
template <class ExecutionSpace, LogitType Weight>
class Step {
 public:
  using Space = MemoryOf<ExecutionSpace>;

  Step(const ExecutionSpace& space, const Matrix<const Weight, Space>& weight,
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

  void run(float* logits, std::int64_t* places, std::int64_t max_rows, const GemmRoom& room,
           const RowMeasures<Space>& measures) {
    m_room = room;
    m_measures = measures;
    clear_results(m_space, m_outputs);
    const std::int64_t size = m_options.block_tokens;
    const std::int64_t last = (m_options.active_vocabulary - 1) / size * size;
    for (std::int64_t first = last; first >= 0; first -= size) {
      const std::int64_t tokens = std::min(size, m_options.active_vocabulary - first);
      stream(window_of(logits, first, tokens));
    }
    sum_rows(m_space, m_rows, m_measures, m_outputs.row_status);
    if (m_outputs.tokens.data() != nullptr) draw(logits, places, max_rows);
    finish_results(m_space, m_rows, m_measures, m_outputs);
  }

 private:
  /// The first `tokens` columns of the block in memory.
  LogitWindow<Space> window_of(float* logits, std::int64_t first, std::int64_t tokens) const {
    const auto stride = static_cast<std::size_t>(m_options.block_tokens);
    const Kokkos::LayoutStride layout(m_count, stride, static_cast<std::size_t>(tokens), 1);
    return {Matrix<float, Space>(logits, layout), m_vocabulary, first};
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
    measure_block(m_space, block);
    keep_given(m_space, block, m_outputs);
    keep_top(m_space, block, m_outputs);
  }

  void draw(float* logits, std::int64_t* memory, std::int64_t max_rows) const {
    const DrawPlaces<Space> places{vector_of<std::int64_t, Space>(memory, m_count),
                                   vector_of<std::int64_t, Space>(memory + max_rows, m_count),
                                   vector_of<std::int64_t, Space>(memory + 2 * max_rows, m_count)};
    choose_chunks(m_space, m_rows, m_measures, m_outputs, places);
    const std::int64_t kept = std::min(m_options.block_tokens, m_options.active_vocabulary);
    if (kept < m_options.active_vocabulary) compute_again(logits, places);
    draw_chosen(m_space, m_rows, m_measures, places, window_of(logits, 0, kept), m_outputs);
  }

  /// Chosen chunks that are forgotten, at the beginning of their rows.
  void compute_again(float* logits, const DrawPlaces<Space>& places) const {
    LogitWindow<Space> window = window_of(logits, 0, chunk_size);
    window.chunks = places.chunk;
    window.first_chunk = m_options.block_tokens / chunk_size;
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
  GemmRoom m_room;
};

template <class T, class Space>
Kokkos::View<T*, Space> uninitialized(const std::string& label, std::int64_t elements) {
  return Kokkos::View<T*, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                 static_cast<std::size_t>(elements));
}

}  // namespace

template <class ExecutionSpace, LogitType Weight>
LmHead<ExecutionSpace, Weight>::LmHead(const ExecutionSpace& space,
                                       const Matrix<const Weight, memory_space>& weight,
                                       std::int64_t max_rows, const LmHeadOptions& options)
    : m_space(space),
      m_weight(weight),
      m_options(completed(options, weight, max_rows)),
      m_pairs(max_rows, static_cast<std::int64_t>(weight.extent(0))) {
  const Room room(m_options, max_rows, hidden_size(), !std::is_same_v<Weight, float>);
  const std::int64_t places = places_per_row * max_rows;
  m_floats = OwnedView(uninitialized<float, memory_space>("tokkos::lm_head::floats", room.end));
  m_places =
      OwnedView(uninitialized<std::int64_t, memory_space>("tokkos::lm_head::places", places));
  m_device_bytes = workspace_bytes(max_rows, vocabulary()) +
                   static_cast<std::size_t>(room.end) * sizeof(float) +
                   static_cast<std::size_t>(places) * sizeof(std::int64_t);
}

template <class ExecutionSpace, LogitType Weight>
void LmHead<ExecutionSpace, Weight>::process(const LmHeadInputs<memory_space>& inputs,
                                             const LmHeadOutputs<memory_space>& outputs) const {
  const auto rows = static_cast<std::int64_t>(inputs.hidden.extent(0));
  require(rows <= max_rows(), "hidden.extent", 0, rows, "at most max_rows");
  check_inputs(inputs, rows, hidden_size(), active_vocabulary());
  check_outputs(outputs, rows);
  check_step_apart(m_weight, inputs, outputs);
  const RowMeasures<memory_space> measures = m_pairs.measures(rows);
  if (rows == 0) return;
  const Room room(m_options, max_rows(), hidden_size(), !std::is_same_v<Weight, float>);
  float* floats = m_floats.get().data();
  std::int64_t* places = m_places.get().data();
  const GemmRoom by_gemm{floats + room.weights, floats + room.hidden, floats + room.logits,
                         places + 3 * max_rows()};
  Step<ExecutionSpace, Weight>(m_space, m_weight, m_options, inputs, outputs)
      .run(floats, places, max_rows(), by_gemm, measures);
}

template <class ExecutionSpace, LogitType Weight>
void LmHead<ExecutionSpace, Weight>::logits(const Matrix<const float, memory_space>& hidden,
                                            const Matrix<float, memory_space>& logits) const {
  const auto rows = static_cast<std::int64_t>(hidden.extent(0));
  check_matrix("hidden", hidden, rows, hidden_size());
  check_matrix("logits", logits, rows, vocabulary());
  const std::array read{NamedRange::of("weight", m_weight), NamedRange::of("hidden", hidden)};
  check_apart(std::array{NamedRange::of("logits", logits)}, {read});
  if (rows == 0) return;
  const Kokkos::LayoutStride layout(hidden.extent(0), logits.stride(0),
                                    static_cast<std::size_t>(active_vocabulary()), 1);
  const Matrix<float, memory_space> active(logits.data(), layout);
  if (m_options.product == LmHeadProduct::gemm) {
    const Room room(m_options, max_rows(), hidden_size(), !std::is_same_v<Weight, float>);
    GemmRoom by_gemm;
    by_gemm.weights = m_floats.get().data() + room.weights;
    gemm_block<ExecutionSpace, Weight>(m_space, hidden, m_weight, 0, active_vocabulary(), active,
                                       by_gemm);
  } else {
    multiply_block<ExecutionSpace, Weight>(m_space, hidden, m_weight, 0, active_vocabulary(),
                                           active);
  }
  finish_logits(m_space, m_options, LogitWindow<memory_space>{active, vocabulary()});
}

#define TOKKOS_INSTANTIATE(Space, Weight) template class LmHead<Space, Weight>;
TOKKOS_FOR_EACH_SPACE_AND_LOGIT(TOKKOS_INSTANTIATE)

}  // namespace tokkos
