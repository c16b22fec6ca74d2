// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/row_status.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/row_batch.hpp"

namespace tokkos::test {

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// A batch of which some rows may be poisoned.
struct Poisoned {
  RowBatch batch;
  std::vector<float> uniforms;
  std::vector<std::int32_t> status;  // that each row must get
};

/// A batch of good rows: most of them short, some of several chunks, masks of about half the words.
inline Poisoned random_batch(std::mt19937_64& random) {
  Poisoned good;
  const std::int64_t rows = 2 + static_cast<std::int64_t>(random() % 5);
  const auto sizes = random() % 16;
  RowBatch& batch = good.batch;
  batch.vocabulary = 2 + static_cast<std::int64_t>(random() % (sizes == 0 ? 9000 : 90));
  batch.active = batch.vocabulary - static_cast<std::int64_t>(random() % 2);
  batch.words = (batch.vocabulary + 31) / 32;
  batch.temperature.clear();
  for (std::int64_t i = 0; i < rows; ++i) {
    batch.temperature.push_back(random() % 4 == 0 ? 0.0f : 0.5f + static_cast<float>(random() % 8));
    good.uniforms.push_back(static_cast<float>(random() % 4096) / 4096);
    for (std::int64_t v = 0; v < batch.vocabulary; ++v) {
      batch.logits.push_back(static_cast<float>(static_cast<int>(random() % 201) - 100) / 8);
    }
    for (std::int64_t w = 0; w < batch.words; ++w) {
      batch.bitmask.push_back(static_cast<std::int32_t>(random()) | 1);  // token 0 may always come
    }
  }
  good.status.assign(static_cast<std::size_t>(rows), 0);
  return good;
}

inline void allow(RowBatch& batch, std::int64_t row, std::int64_t token) {
  auto& word = batch.bitmask[static_cast<std::size_t>(row * batch.words + token / 32)];
  word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | 1u << (token % 32));
}

/// Poisons one row in one of the ways that only the device sees.
inline void poison(Poisoned& target, std::size_t row, std::mt19937_64& random) {
  RowBatch& batch = target.batch;
  const auto signed_row = static_cast<std::int64_t>(row);
  const auto token = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(batch.active));
  auto& logit = batch.logits[static_cast<std::size_t>(signed_row * batch.vocabulary + token)];
  const bool negative = random() % 2 == 0;
  switch (random() % 7) {
    case 0:
      logit = negative ? -not_a_number : not_a_number;
      allow(batch, signed_row, token);
      target.status[row] = RowStatus::nan_logit;
      break;
    case 1:
      logit = infinity;
      allow(batch, signed_row, token);
      target.status[row] = RowStatus::positive_infinity;
      break;
    case 2:
      std::fill_n(batch.bitmask.begin() + signed_row * batch.words, batch.words, 0);
      target.status[row] = RowStatus::empty;
      break;
    case 3:
      std::fill_n(batch.logits.begin() + signed_row * batch.vocabulary, batch.vocabulary,
                  negative ? -infinity : masked_logit);
      target.status[row] = RowStatus::empty;
      break;
    case 4:
      batch.temperature[row] = negative ? -1.0f : not_a_number;
      target.status[row] = RowStatus::invalid_parameter;
      break;
    case 5:
      batch.temperature[row] = infinity;
      target.status[row] = RowStatus::invalid_parameter;
      break;
    default:
      target.uniforms[row] = not_a_number;
      target.status[row] = RowStatus::invalid_parameter;
  }
}

/// What masks a logit: -FLT_MAX, in 16 bits -infinity.
template <LogitType Logit>
void store_masks(RowBatch& batch) {
  if constexpr (!std::is_same_v<Logit, float>) {
    std::ranges::replace(batch.logits, masked_logit, -infinity);
  }
}

}  // namespace tokkos::test
