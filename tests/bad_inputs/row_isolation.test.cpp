// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A row that is poisoned ends in a status of its own; no neighbour changes by a bit.
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/draw.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/bad_value_count.hpp"
#include "bad_inputs/poisoned_batch.hpp"
#include "engine/result_bits.hpp"

namespace tokkos::test {
namespace {

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
template <class Row>
void check_batches(int batches, std::uint64_t seed) {
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
    store_masks<typename Row::logit>(bad.batch);
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
                        "[row-22][row-23][row-25][row-28][row-38][row-59]", Backends) {
  check_batches<TestType>(300, 1);
}

TEMPLATE_LIST_TEST_CASE("a poisoned row changes no neighbour in ten thousand batches",
                        "[row-59][slow]", Backends) {
  check_batches<TestType>(10000, 2);
}

}  // namespace tokkos::test
