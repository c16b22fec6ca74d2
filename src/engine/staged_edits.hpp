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
#include <span>
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
        m_bias_rows(add_places(edits.bias_ends)),
        m_bias_tokens(add(edits.bias_tokens)),
        m_biases(add(edits.biases)),
        m_penalty_rows(add(edits.penalty_rows)),
        m_penalty_positions(blob.template add<std::int32_t>(edits.penalty_tokens.size())),
        m_penalty_tokens(blob.template add<TokenId>(edits.penalty_tokens.size())),
        m_penalty_counts(blob.template add<std::int32_t>(edits.penalty_tokens.size())),
        m_penalty_biases(blob.template add<float>(edits.penalty_biases.size())),
        m_penalties(add(edits.penalties)),
        m_penalty_policies(add(edits.penalty_policies)),
        m_mask_rows(add(edits.mask_rows)),
        m_mask_positions(add(edits.mask_positions)),
        m_mask_words(add(edits.mask_words)),
        m_words_per_row(edits.words_per_row) {
    fill_penalties(edits);
  }

  /// Number of edits: biases, then penalties.
  std::size_t size() const { return m_biases.count + m_penalty_tokens.count; }

  bool has_biases() const { return m_biases.count + m_penalty_biases.count > 0; }
  bool has_penalties() const { return m_penalty_tokens.count > 0; }
  bool has_masks() const { return m_mask_rows.count > 0; }

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

  /// Of every element the place of its row, from where the elements of each row end.
  Slot<std::int32_t> add_places(const std::vector<std::size_t>& ends) {
    const std::size_t count = ends.empty() ? 0 : ends.back();
    const auto slot = m_blob->template add<std::int32_t>(count);
    const std::span<std::int32_t> places = m_blob->host(slot);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); begin = ends[i++]) {
      std::ranges::fill(places.subspan(begin, ends[i] - begin), static_cast<std::int32_t>(i));
    }
    return slot;
  }

  /// Writes the penalties of tokens that are biased, too, before the others: each part by row.
  void fill_penalties(const StepEdits& edits) {
    const std::span<std::int32_t> positions = m_blob->host(m_penalty_positions);
    const std::span<TokenId> tokens = m_blob->host(m_penalty_tokens);
    const std::span<std::int32_t> counts = m_blob->host(m_penalty_counts);
    const std::span<float> biases = m_blob->host(m_penalty_biases);
    std::size_t with_bias = 0, without = biases.size();
    std::size_t from = 0;
    for (std::size_t position = 0; position < edits.penalty_ends.size(); ++position) {
      const std::size_t end = edits.penalty_ends[position];
      const auto write = [&](std::size_t to, std::size_t count) {
        std::ranges::fill(positions.subspan(to, count), static_cast<std::int32_t>(position));
        std::copy_n(edits.penalty_tokens.begin() + static_cast<std::ptrdiff_t>(from), count,
                    tokens.begin() + static_cast<std::ptrdiff_t>(to));
        std::copy_n(edits.penalty_counts.begin() + static_cast<std::ptrdiff_t>(from), count,
                    counts.begin() + static_cast<std::ptrdiff_t>(to));
        from += count;
      };
      while (from < end) {
        const bool any_left = with_bias < biases.size();
        const std::size_t next = any_left ? edits.penalty_biases[with_bias].place : end;
        const std::size_t plain = std::min(next, end) - from;
        write(without, plain);
        without += plain;
        if (from == end) break;
        write(with_bias, 1);
        biases[with_bias] = edits.penalty_biases[with_bias].bias;
        ++with_bias;
      }
    }
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
