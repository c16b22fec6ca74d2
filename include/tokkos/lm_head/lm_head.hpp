// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/owned_view.hpp>
#include <tokkos/batch/views.hpp>
#include <tokkos/core/logit_type.hpp>
#include <tokkos/kernels/workspace.hpp>
#include <tokkos/lm_head/lm_head_options.hpp>
#include <tokkos/lm_head/lm_head_step.hpp>

#include <cstddef>
#include <cstdint>

namespace tokkos {

template <class ExecutionSpace, LogitType Weight>
class LmHeadProcessor;

/// From hidden states to tokens without the logits of a whole row: the vocabulary is gone through
/// in blocks of whole chunks, from its end to its beginning. A block's logits are computed, scaled,
/// capped, edited, masked and measured, and forgotten; what is left are the pairs of `measure` and
/// the masses of pieces of 256 tokens, 140 bytes of each row for every 4096 tokens. A draw then
/// needs one chunk of each row: it is still there if it belongs to the block of the lowest ids,
/// which is the last one; of another the masses name the piece, whose 256 logits are computed once
/// more.
///
/// The results are, bit for bit, those of `logits` (below) followed by apply_edits, measure, draw,
/// log_sum_exp, log_probabilities and top_log_probabilities: always with
/// LmHeadProduct::fixed_order, and with LmHeadProduct::gemm where the bits of its products do not
/// depend on their shape.
///
/// Not to be used by two threads at once, or on another instance than its own.
template <class ExecutionSpace, LogitType Weight>
class LmHead {
 public:
  /// Where weights and the Views of a call lie.
  using memory_space = MemoryOf<ExecutionSpace>;

  /// Allocates all that any step needs: see device_bytes.
  /// @param weight [V, d], d up to 2^24, rows may be padded; it is referred to, and must outlive
  ///   this
  /// @param max_rows the most rows of a step
  /// @throws Error that names what is out of range; what Kokkos throws where there is no memory
  LmHead(const ExecutionSpace& space, const Matrix<const Weight, memory_space>& weight,
         std::int64_t max_rows, const LmHeadOptions& options = {});

  /// One step. Asynchronous on the instance given to the constructor; allocates no View. With
  /// LmHeadProduct::gemm a draw waits for the instance, to know the shapes of its products, and
  /// sorts the rows in host memory of its own, unless one block is the whole vocabulary.
  /// @throws Error if a shape does not fit, an output overlaps another View, or outputs that belong
  ///   together do not come together (nothing is launched, nothing written); std::bad_alloc where
  ///   host memory of a draw by gemm runs out, when outputs may be written, the next step is right
  void process(const LmHeadInputs<memory_space>& inputs,
               const LmHeadOutputs<memory_space>& outputs) const;

  /// The logits of all tokens, scaled and capped, for what needs whole rows: truncation, draft
  /// trees. Asynchronous.
  /// @param hidden [n, d], any n
  /// @param logits [n, V], rows may be padded; columns at or past the active vocabulary are not
  ///   written
  /// @throws Error if a shape does not fit, logits overlap another View, or the head was moved from
  ///   or outlives Kokkos (nothing is launched)
  void logits(const Matrix<const float, memory_space>& hidden,
              const Matrix<float, memory_space>& logits) const;

  /// Most rows of one call.
  std::int64_t max_rows() const { return m_pairs.max_rows(); }
  /// V, the number of rows of the weights.
  std::int64_t vocabulary() const { return m_pairs.vocabulary(); }
  /// d, the length of a hidden state.
  std::int64_t hidden_size() const { return static_cast<std::int64_t>(m_weight.extent(1)); }
  /// Of the options, with what was chosen for 0.
  std::int64_t block_tokens() const { return m_options.block_tokens; }
  /// How many tokens exist: of the options, or V.
  std::int64_t active_vocabulary() const { return m_options.active_vocabulary; }
  /// The instance that it was made with, on which it launches.
  const ExecutionSpace& execution_space() const { return m_space; }
  /// Bytes of device memory that this has allocated: the logits of a block, the pairs, the masses
  /// of pieces, 48 bytes a row, and with LmHeadProduct::gemm room for max_rows hidden states and
  /// pieces of logits, and for a chunk of widened weights where weights are stored in 16 bits.
  /// Beside it, on hosts, Kokkos keeps 64 d bytes for each thread where weights of 16 bits are
  /// multiplied in the fixed order with more than 4 rows.
  std::size_t device_bytes() const { return m_device_bytes; }

 private:
  friend class LmHeadProcessor<ExecutionSpace, Weight>;
  /// Throws if this was moved from, or outlives Kokkos.
  void check_alive() const;

  ExecutionSpace m_space;
  Matrix<const Weight, memory_space> m_weight;
  LmHeadOptions m_options;
  Workspace<memory_space> m_pairs;
  OwnedView<Kokkos::View<float*, memory_space>> m_floats;
  OwnedView<Kokkos::View<std::int64_t*, memory_space>> m_places;
  OwnedView<Kokkos::View<std::int64_t*, memory_space>> m_pieces;
  std::size_t m_device_bytes = 0;
};

}  // namespace tokkos
