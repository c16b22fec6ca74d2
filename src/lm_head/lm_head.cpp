// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/lm_head/lm_head.hpp>

#include "kernels/instantiate.hpp"
#include "lm_head/check_step.hpp"
#include "lm_head/fixed_order.hpp"
#include "lm_head/step.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

namespace tokkos {

namespace {

/// Bytes of the logits of a block, if the caller does not say how long it is to be.
constexpr std::int64_t block_bytes = std::int64_t{8} << 20;

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
  std::int64_t logits;   ///< of chosen pieces
  std::int64_t weights;  ///< widened
  std::int64_t end;

  Room(const LmHeadOptions& options, std::int64_t rows, std::int64_t size, bool widens) {
    const bool by_gemm = options.product == LmHeadProduct::gemm;
    hidden = rows * options.block_tokens;
    logits = hidden + (by_gemm ? rows * size : 0);
    weights = logits + (by_gemm ? rows * piece_size : 0);
    end = weights + (by_gemm && widens ? size * chunk_size : 0);
  }
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
  // One row's at least: memory says that the head was neither moved from nor outlives Kokkos.
  const std::int64_t places = places_per_row * std::max<std::int64_t>(max_rows, 1);
  const std::int64_t pieces = forgotten_pieces(m_options) * max_rows;
  m_floats = OwnedView(uninitialized<float, memory_space>("tokkos::lm_head::floats", room.end));
  m_places =
      OwnedView(uninitialized<std::int64_t, memory_space>("tokkos::lm_head::places", places));
  m_pieces =
      OwnedView(uninitialized<std::int64_t, memory_space>("tokkos::lm_head::pieces", pieces));
  m_device_bytes = workspace_bytes(max_rows, vocabulary()) +
                   static_cast<std::size_t>(room.end) * sizeof(float) +
                   static_cast<std::size_t>(places + pieces) * sizeof(std::int64_t);
  if (m_options.product == LmHeadProduct::fixed_order) {
    reserve_scratch<ExecutionSpace, Weight>(m_space, max_rows, hidden_size());
  }
}

template <class ExecutionSpace, LogitType Weight>
void LmHead<ExecutionSpace, Weight>::check_alive() const {
  if (m_places.get().data() != nullptr) return;
  throw Error("Kokkos", std::nullopt, "finalized, or the LmHead was moved from",
              "an LmHead that owns its memory");
}

template <class ExecutionSpace, LogitType Weight>
void LmHead<ExecutionSpace, Weight>::process(const LmHeadInputs<memory_space>& inputs,
                                             const LmHeadOutputs<memory_space>& outputs) const {
  check_alive();
  check_hidden(inputs.hidden, max_rows(), hidden_size());
  const auto rows = static_cast<std::int64_t>(inputs.hidden.extent(0));
  check_inputs(inputs, rows, active_vocabulary());
  check_outputs(outputs, rows);
  check_drawn_by(outputs, rows);
  check_step_apart(m_weight, inputs, outputs);
  const RowMeasures<memory_space> measures = m_pairs.measures(rows);
  if (rows == 0) return;
  const Room room(m_options, max_rows(), hidden_size(), !std::is_same_v<Weight, float>);
  float* floats = m_floats.get().data();
  std::int64_t* places = m_places.get().data();
  const GemmRoom by_gemm{floats + room.weights, floats + room.hidden, floats + room.logits,
                         places + (places_per_row - 1) * max_rows()};
  const LmHeadOutputs<memory_space> asked = without_left_out(outputs);
  LmHeadStep<ExecutionSpace, Weight>(m_space, m_weight, m_options, inputs, asked)
      .run(floats, places, max_rows(), m_pieces.get().data(), by_gemm, measures);
}

template <class ExecutionSpace, LogitType Weight>
void LmHead<ExecutionSpace, Weight>::logits(const Matrix<const float, memory_space>& hidden,
                                            const Matrix<float, memory_space>& logits) const {
  const auto rows = static_cast<std::int64_t>(hidden.extent(0));
  check_alive();
  if (rows == 0 && is_left_out(hidden) && is_left_out(logits)) return;
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
