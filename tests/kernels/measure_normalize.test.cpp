// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace tokkos::test;

template <class Logit>
RowBatch mixed_batch(std::int64_t vocabulary, std::int64_t active) {
  RandomValues random(21);
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.active = active;
  batch.temperature = {0.7f, 0.0f, 1.1e-5f, 1.0f, 30.0f};
  batch.logits = stored_values<Logit>(random.logits(5 * vocabulary));
  batch.words = (vocabulary + 31) / 32;
  batch.bitmask = random.words(5 * batch.words, 3);
  batch.bitmask[0] |= 1;
  batch.mask_index = {0, 1, -1, 3, 4};
  return batch;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("measure and normalize give the bits of softmax", "", Backends) {
  for (const std::int64_t vocabulary : {33, 4096, 4097, 20000}) {
    for (const std::int64_t active : {std::int64_t{0}, vocabulary / 2}) {
      const auto batch = mixed_batch<typename TestType::logit>(vocabulary, active);
      const auto fused = softmax_of<TestType>(batch);
      const auto verbs = verbs_of<TestType>(batch, std::vector<float>(5, 0.5f));
      CHECK(verbs.probabilities == fused.probabilities);
      CHECK(verbs.chunk_maximum == fused.chunk_maximum);
      CHECK(verbs.chunk_sum == fused.chunk_sum);
      CHECK(verbs.row_maximum == fused.row_maximum);
      CHECK(verbs.row_mass == fused.row_mass);
      CHECK(verbs.status == fused.status);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a chunk's pair is its maximum and its sum of exponentials", "", Backends) {
  const auto batch = mixed_batch<typename TestType::logit>(20000, 19000);
  const auto results = verbs_of<TestType>(batch, std::vector<float>(5, 0.5f));
  const std::int64_t chunks = 5;
  for (std::int64_t i = 0; i < batch.rows(); ++i) {
    const auto row = batch.reference_row(i);
    const auto whole = reference_softmax(row);
    CHECK(results.row_maximum[i] == whole.maximum);
    double mass = 0.0;
    for (std::int64_t c = 0; c < chunks; ++c) {
      auto part = row;
      part.logits = row.logits.subspan(4096 * c, c == 4 ? 20000 - 4 * 4096 : 4096);
      part.bitmask = row.bitmask.empty() ? row.bitmask : row.bitmask.subspan(128 * c);
      part.active = std::min<std::int64_t>(4096, 19000 - 4096 * c);
      const auto expected = reference_softmax(part);
      const auto sum = static_cast<double>(results.chunk_sum[i * chunks + c]) * 0x1p-44;
      CHECK(results.chunk_maximum[i * chunks + c] == expected.maximum);
      const bool greedy = row.temperature <= 1e-5f;
      const double exact = greedy ? static_cast<double>(expected.maxima.size())
                                  : 1.0 / expected.probabilities[expected.argmax];
      CHECK(std::fabs(sum - exact) <= exact * (3 * expected.entropy_sum + 14) * 0x1p-24);
      mass += greedy ? (expected.maximum == whole.maximum ? exact : 0.0)
                     : exact * std::exp((expected.maximum - whole.maximum) / row.temperature);
    }
    const auto row_mass = static_cast<double>(results.row_mass[i]) * 0x1p-44;
    CHECK(std::fabs(row_mass - mass) <= mass * (3 * whole.entropy_sum + 14) * 0x1p-24);
  }
}

TEMPLATE_LIST_TEST_CASE("sums of equal logits are exact", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 9001;
  batch.temperature = {0.3f};
  batch.logits.assign(9001, 2.5f);
  const auto results = verbs_of<TestType>(batch, {0.5f});
  const std::int64_t one = std::int64_t{1} << 44;
  CHECK(results.chunk_sum == std::vector<std::int64_t>{4096 * one, 4096 * one, 809 * one});
  CHECK(results.row_mass[0] == 9001 * one);
  CHECK(results.probabilities == std::vector<float>(9001, 1.0f / 9001.0f));
}

TEMPLATE_LIST_TEST_CASE("the maximum of zeros is plus zero, whatever their signs", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 4096 + 33;
  batch.logits.assign(2 * 4129, -0.0f);
  std::fill_n(batch.logits.begin() + 4129 + 100, 300, -1.0f);
  const auto fused = softmax_of<TestType>(batch);
  const auto verbs = verbs_of<TestType>(batch, {0.5f, 0.5f});
  for (const auto& results : {fused, verbs}) {
    CHECK(results.chunk_maximum == std::vector<float>(4));
    CHECK(std::ranges::none_of(results.chunk_maximum, [](float x) { return std::signbit(x); }));
    CHECK(results.row_maximum == std::vector<float>(2));
    CHECK(std::ranges::none_of(results.row_maximum, [](float x) { return std::signbit(x); }));
  }
}

TEMPLATE_LIST_TEST_CASE("a chunk with nothing allowed is (-infinity, 0)", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 3 * 4096;
  batch.logits.assign(3 * 4096, 1.0f);
  batch.words = 3 * 128;
  batch.bitmask.assign(3 * 128, -1);
  std::fill_n(batch.bitmask.begin() + 128, 128, 0);
  const auto results = verbs_of<TestType>(batch, {0.5f});
  CHECK(results.chunk_maximum[1] == -std::numeric_limits<float>::infinity());
  CHECK(results.chunk_sum[1] == 0);
  CHECK(results.status[0] == 0);
  CHECK(results.probabilities[4096] == 0.0f);
  CHECK(results.probabilities[0] == 1.0f / 8192.0f);
}

TEMPLATE_LIST_TEST_CASE("zero rows are legal", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 100;
  CHECK_NOTHROW(softmax_of<TestType>(batch));
  CHECK_NOTHROW(verbs_of<TestType>(batch, {}));
}
