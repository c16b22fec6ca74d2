// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/vocabulary_bitmask.hpp>
#include <tokkos/engine/staging.hpp>
#include <tokkos/engine/step_edits.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tokkos {

/// A step's edits in the blob that is being staged.
template <class ExecutionSpace>
class StagedEdits {
 public:
  using Blob = Staging<ExecutionSpace>;
  using Space = MemoryOf<ExecutionSpace>;

  /// Room that the edits take.
  static std::size_t room(const StepEdits& edits) {
    return 3 * Blob::template room<float>(edits.biases.size()) +
           3 * Blob::template room<float>(edits.penalty_tokens.size()) +
           Blob::template room<float>(edits.penalty_biases.size()) +
           2 * Blob::template room<float>(edits.penalty_rows.size()) +
           Blob::template room<float>(edits.penalties.size()) +
           2 * Blob::template room<float>(edits.mask_rows.size()) +
           Blob::template room<float>(edits.mask_words.size());
  }

  /// Adds the edits to a blob that was begun with enough room.
  StagedEdits(Blob& blob, const StepEdits& edits)
      : m_blob(&blob),
        m_bias_rows(add(edits.bias_rows)),
        m_bias_tokens(add(edits.bias_tokens)),
        m_biases(add(edits.biases)),
        m_penalty_rows(add(edits.penalty_rows)),
        m_penalty_positions(add(edits.penalty_positions)),
        m_penalty_tokens(add(edits.penalty_tokens)),
        m_penalty_counts(add(edits.penalty_counts)),
        m_penalty_biases(add(edits.penalty_biases)),
        m_penalties(add(edits.penalties)),
        m_penalty_policies(add(edits.penalty_policies)),
        m_mask_rows(add(edits.mask_rows)),
        m_mask_positions(add(edits.mask_positions)),
        m_mask_words(add(edits.mask_words)),
        m_words_per_row(edits.words_per_row) {}

  /// Number of edits: biases, then penalties.
  std::size_t size() const { return m_biases.count + m_penalty_tokens.count; }

  bool has_biases() const { return m_biases.count + m_penalty_biases.count > 0; }
  bool has_penalties() const { return m_penalty_tokens.count > 0; }

  LogitBiasEdits<Space> biases() const {
    return {device(m_bias_rows), device(m_bias_tokens), device(m_biases)};
  }

  PenaltyEdits<Space> penalties() const {
    return {device(m_penalty_rows),    device(m_penalty_positions),       device(m_penalty_tokens),
            device(m_penalty_counts),  m_blob->on_device(m_penalties, 3), device(m_penalty_biases),
            device(m_penalty_policies)};
  }

  /// The masked rows, where the words of each are, and the words.
  Vector<const std::int32_t, Space> mask_rows() const { return device(m_mask_rows); }
  Vector<const std::int32_t, Space> mask_positions() const { return device(m_mask_positions); }
  Matrix<const std::int32_t, Space> mask_words() const {
    return m_blob->on_device(m_mask_words, m_words_per_row);
  }

 private:
  template <class T>
  using Slot = typename Blob::template Slot<T>;

  template <class T>
  Slot<T> add(const std::vector<T>& array) {
    const auto slot = m_blob->template add<T>(array.size());
    std::copy(array.begin(), array.end(), m_blob->host(slot).begin());
    return slot;
  }

  template <class T>
  Vector<const T, Space> device(Slot<T> slot) const {
    return m_blob->on_device(slot);
  }

  Blob* m_blob;
  Slot<std::int32_t> m_bias_rows, m_bias_tokens;
  Slot<float> m_biases;
  Slot<std::int32_t> m_penalty_rows, m_penalty_positions, m_penalty_tokens, m_penalty_counts;
  Slot<float> m_penalty_biases, m_penalties;
  Slot<std::int32_t> m_penalty_policies;
  Slot<std::int32_t> m_mask_rows, m_mask_positions, m_mask_words;
  std::size_t m_words_per_row;
};

}  // namespace tokkos
