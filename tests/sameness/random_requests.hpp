// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "request/owned_step.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace tokkos::test {

/// A grammar that allows the same tokens for ever.
class FixedMask final : public VocabularyMask {
 public:
  explicit FixedMask(std::vector<std::int32_t> words) : m_words(std::move(words)) {}
  void fill_next_bitmask(std::span<std::int32_t> words) override {
    std::copy_n(m_words.begin(), words.size(), words.begin());
  }
  bool accept(TokenId) override { return true; }
  void rollback(std::int32_t) override {}
  const std::vector<std::int32_t>& words() const { return m_words; }

 private:
  std::vector<std::int32_t> m_words;
};

/// One-row requests that have nothing to do with each other.
struct Requests {
  std::int64_t vocabulary = 0;
  std::int64_t active = 0;
  std::vector<GenerationConfig> configs;
  std::vector<TokenHistory> histories;
  std::deque<FixedMask> masks;
  std::vector<FixedMask*> mask_of;  ///< null: none
  std::vector<float> logits;        ///< [requests, vocabulary]
  std::vector<float> uniforms;
};

Requests random_requests(std::int64_t count, std::int64_t vocabulary);

/// The listed requests as a step.
OwnedStep step_of(const Requests& requests, const std::vector<std::int64_t>& rows);

}  // namespace tokkos::test
