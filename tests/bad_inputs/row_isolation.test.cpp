// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A row that is poisoned ends in a status of its own; no neighbour changes by a bit.
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/draw.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/bad_value_count.hpp"
#include "engine/result_bits.hpp"
#include "kernels/row_batch.hpp"

namespace tokkos::test {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Poisoned {
  RowBatch batch;
  std::vector<float> uniforms;
  std::vector<std::int32_t> status;  // that each row must get
};

/// A batch of good rows: most of them short, some of several chunks, masks of about half the words.
Poisoned random_batch(std::mt19937_64& random) {
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

void allow(RowBatch& batch, std::int64_t row, std::int64_t token) {
  auto& word = batch.bitmask[static_cast<std::size_t>(row * batch.words + token / 32)];
  word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | 1u << (token % 32));
}

/// Poisons one row in one of the ways that only the device sees.
void poison(Poisoned& target, std::size_t row, std::mt19937_64& random) {
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

/// Everything that is said about a row, as bits.
Bits bits_of(const RowResults& results, std::int64_t row, const RowBatch& batch) {
  const auto i = static_cast<std::size_t>(row);
  const std::size_t chunks = results.chunk_maximum.size() / results.status.size();
  Bits bits;
  append(bits, std::vector<float>(results.probabilities.begin() + row * batch.vocabulary,
                                  results.probabilities.begin() + (row + 1) * batch.vocabulary));
  append(bits, std::vector<std::int32_t>{results.status[i], results.tokens[i], results.argmax[i]});
  append(bits, std::vector<float>{results.log_sum_exp[i], results.row_maximum[i]});
  for (std::size_t c = i * chunks; c < (i + 1) * chunks; ++c) {
    append(bits, std::vector<float>{results.chunk_maximum[c]});
    bits.push_back(static_cast<std::uint32_t>(results.chunk_sum[c]));
    bits.push_back(static_cast<std::uint32_t>(results.chunk_sum[c] >> 32));
  }
  return bits;
}

/// Poisons one row of a random batch, or several, and compares each other one with what it was.
template <class Space>
void check_batches(int batches, std::uint64_t seed) {
  using Row = Backend<Space, float>;
  std::mt19937_64 random(seed);
  for (int number = 0; number < batches; ++number) {
    CAPTURE(number, seed);
    const Poisoned good = random_batch(random);
    Poisoned bad = good;
    const std::size_t rows = bad.status.size();
    const std::size_t poisoned = 1 + random() % (rows - 1);
    for (std::size_t i = 0; i < poisoned; ++i) {
      const std::size_t row = random() % rows;
      if (bad.status[row] == 0) poison(bad, row, random);
    }
    count_bad_value(std::ranges::count_if(bad.status, [](int bits) { return bits != 0; }));
    const RowResults before = verbs_of<Row>(good.batch, good.uniforms);
    const RowResults after = verbs_of<Row>(bad.batch, bad.uniforms);
    REQUIRE(after.padding_is_untouched);
    REQUIRE(after.status == bad.status);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = static_cast<std::int64_t>(i);
      if (bad.status[i] == 0) {
        REQUIRE(bits_of(after, row, bad.batch) == bits_of(before, row, good.batch));
        REQUIRE(after.tokens[i] >= 0);
        continue;
      }
      const auto first = after.probabilities.begin() + row * bad.batch.vocabulary;
      REQUIRE(std::count(first, first + bad.batch.vocabulary, 0.0f) == bad.batch.vocabulary);
      REQUIRE(after.tokens[i] == -1);
      REQUIRE(after.log_sum_exp[i] == -infinity);
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a poisoned row gets its status and no neighbour changes",
                        "[row-22][row-23][row-25][row-28][row-38][row-59]", ExecutionSpaces) {
  check_batches<TestType>(300, 1);
}

TEMPLATE_LIST_TEST_CASE("a poisoned row changes no neighbour in ten thousand batches",
                        "[row-59][slow]", ExecutionSpaces) {
  check_batches<TestType>(10000, 2);
}

}  // namespace tokkos::test
