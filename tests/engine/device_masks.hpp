// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/batch/vocabulary_bitmask.hpp>

#include "engine/random_step.hpp"
#include "kernels/guarded.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tokkos::test {

/// Which tokens each row of a step may draw, worked out naively; none: all.
inline std::vector<std::optional<std::vector<bool>>> masks_of(const RandomStep& step) {
  std::vector<std::optional<std::vector<bool>>> masks;
  const StepRequests requests = step.step.requests();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (std::int64_t row = 0; row < requests.end_row(i) - requests.first_row(i); ++row) {
      const RowEdits edits = step.edits(i, row);
      masks.emplace_back();
      if (edits.masked) masks.back() = edits.allowed;
    }
  }
  return masks;
}

/// The step without masks and lists of allowed tokens.
inline OwnedStep without_masks(OwnedStep step) {
  for (GenerationConfig& config : step.configs) config.allowed_token_ids.clear();
  for (std::size_t i = 0; i < step.states.size(); ++i) {
    step.states[i] = {&step.histories[i], nullptr};
  }
  return step;
}

/// Such masks as words on the device, the last row's first, and the index of each row.
template <class Space>
class DeviceMasks {
 public:
  DeviceMasks(const std::vector<std::optional<std::vector<bool>>>& masks, std::int64_t vocabulary)
      : DeviceMasks(Words(masks, static_cast<std::size_t>(vocabulary + 31) / 32)) {}

  VocabularyBitmask<Space> view() const { return {m_words.matrix(), m_index.vector()}; }
  std::size_t count() const { return m_count; }
  bool intact() {
    m_words.values(), m_index.values();
    return m_words.guards_intact() && m_index.guards_intact();
  }

 private:
  struct Words {
    std::size_t count = 0, width;
    std::vector<std::int32_t> words, index;

    Words(const std::vector<std::optional<std::vector<bool>>>& masks, std::size_t words_of_a_row)
        : width(words_of_a_row), index(masks.size(), -1) {
      for (std::size_t i = masks.size(); i-- > 0;) {
        if (!masks[i]) continue;
        index[i] = static_cast<std::int32_t>(count++);
        std::vector<std::uint32_t> row(width);
        for (std::size_t v = 0; v < masks[i]->size(); ++v) {
          if ((*masks[i])[v]) row[v / 32] |= std::uint32_t{1} << v % 32;
        }
        for (const std::uint32_t word : row) words.push_back(static_cast<std::int32_t>(word));
      }
    }
  };

  explicit DeviceMasks(const Words& made)
      : m_count(made.count), m_words(made.count, made.width, 3, made.words), m_index(made.index) {}

  std::size_t m_count;
  Guarded<std::int32_t, Space> m_words, m_index;
};

}  // namespace tokkos::test
