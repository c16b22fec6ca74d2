// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/row_status.hpp>
#include <tokkos/kernels/chunk_lse.hpp>
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr double unit = 0x1p-24;

struct Stages {
  std::vector<float> chunked_sum;
  std::vector<float> chunked_max;
  RowResults results;
  std::vector<std::int32_t> first_status;
};

/// Both stages one after the other, with the seed's buffers.
template <class Backend>
Stages stages_of(const RowBatch& batch) {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const DeviceRows<Backend> device(batch);
  const std::int64_t chunks = tokkos::chunk_count(batch.vocabulary);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> sum("sum", batch.rows(), chunks);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> max("max", batch.rows(), chunks);
  const Kokkos::View<std::int32_t*, Memory> first("first", batch.rows());
  tokkos::chunk_lse(space, device.rows, sum, max, first);
  tokkos::softmax_with_chunked_sum(space, device.rows, sum, max, device.probabilities,
                                   device.status);
  space.fence("tokkos::test::stages_of");
  Stages stages{on_host(sum), on_host(max), {}, on_host(first)};
  device.read_probabilities(stages.results);
  stages.results.status = on_host(device.status);
  return stages;
}

/// Chunk c of a row as a row of its own.
ReferenceRow chunk_of(const ReferenceRow& row, std::int64_t c) {
  ReferenceRow chunk = row;
  const auto first = static_cast<std::size_t>(4096 * c);
  chunk.logits = row.logits.subspan(first, std::min<std::size_t>(4096, row.logits.size() - first));
  if (!row.bitmask.empty()) chunk.bitmask = row.bitmask.subspan(first / 32);
  const auto left = row.active - 4096 * c;
  chunk.active = std::clamp<std::int64_t>(left, 0, 4096);
  return chunk;
}

template <class Logit>
RowBatch staged_batch(std::int64_t vocabulary, std::int64_t active) {
  RandomValues random(31);
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.active = active;
  batch.temperature = {0.7f, 0.0f, 1.0f, 30.0f, 1e-5f, 0.05f};
  batch.logits = stored_values<Logit>(random.logits(6 * vocabulary, 4.0f, 3.0f));
  batch.words = (vocabulary + 31) / 32;
  batch.bitmask = random.words(6 * batch.words, 2);
  for (std::int64_t row = 0; row < 6; ++row) batch.bitmask[row * batch.words] |= 1;
  batch.mask_index = {0, -1, 2, -1, 4, -1};
  return batch;
}

void check_chunk(const ReferenceRow& chunk, float sum, float maximum) {
  const auto expected = reference_softmax(chunk);
  const bool greedy = chunk.temperature <= 1e-5f;
  if (expected.status != 0) {  // nothing allowed
    CHECK(maximum == -FLT_MAX);
    CHECK(sum == (greedy ? 0.0f : -std::numeric_limits<float>::infinity()));
  } else if (greedy) {
    CHECK(maximum == expected.maximum);
    CHECK(sum == static_cast<float>(expected.maxima.size()));
  } else {
    const double scaled = expected.maximum / static_cast<double>(chunk.temperature);
    CHECK(std::fabs(maximum - scaled) <= 2.01 * std::fabs(scaled) * unit);
    const double logarithm = expected.log_sum_exp - scaled;
    const double bound = 3 * expected.entropy_sum + 14 + 2.2 * std::fabs(logarithm);
    CHECK(std::fabs(sum - logarithm) <= bound * unit + std::fabs(scaled) * 0x1p-50);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("chunk_lse writes each chunk's scaled maximum and log-sum", "", Backends) {
  for (const std::int64_t vocabulary : {1, 33, 4096, 4097, 20000}) {
    for (const std::int64_t active : {std::int64_t{0}, (vocabulary + 1) / 2}) {
      const auto batch = staged_batch<typename TestType::logit>(vocabulary, active);
      const auto stages = stages_of<TestType>(batch);
      const std::int64_t chunks = tokkos::chunk_count(vocabulary);
      for (std::int64_t i = 0; i < batch.rows(); ++i) {
        for (std::int64_t c = 0; c < chunks; ++c) {
          CAPTURE(vocabulary, active, i, c);
          const auto at = static_cast<std::size_t>(i * chunks + c);
          check_chunk(chunk_of(batch.reference_row(i), c), stages.chunked_sum[at],
                      stages.chunked_max[at]);
        }
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a chunk with nothing allowed follows the seed's padding rule", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 3 * 4096;
  batch.active = 2 * 4096;
  batch.temperature = {1.0f, 0.0f};
  batch.logits.assign(6 * 4096, 1.0f);
  batch.words = 3 * 128;
  batch.bitmask.assign(6 * 128, -1);
  std::fill_n(batch.bitmask.begin(), 128, 0);
  std::fill_n(batch.bitmask.begin() + 3 * 128, 128, 0);
  const auto stages = stages_of<TestType>(batch);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(stages.chunked_max ==
        std::vector<float>{-FLT_MAX, 1.0f, -FLT_MAX, -FLT_MAX, 1.0f, -FLT_MAX});
  CHECK(stages.chunked_sum[0] == -infinity);
  CHECK(stages.chunked_sum[2] == -infinity);
  CHECK(stages.chunked_sum[3] == 0.0f);
  CHECK(stages.chunked_sum[4] == 4096.0f);
  CHECK(stages.chunked_sum[5] == 0.0f);
  CHECK(stages.results.probabilities[4096] == stages.results.probabilities[5000]);
  CHECK(std::fabs(stages.results.probabilities[4096] - 0x1p-12) <= 0x1p-12 * 20 * unit);
}

TEMPLATE_LIST_TEST_CASE("the two stages give the softmax within the rounding of their buffers", "",
                        Backends) {
  for (const std::int64_t vocabulary : {1, 33, 4096, 4097, 20000}) {
    for (const std::int64_t active : {std::int64_t{0}, (vocabulary + 1) / 2}) {
      const auto batch = staged_batch<typename TestType::logit>(vocabulary, active);
      const auto stages = stages_of<TestType>(batch);
      CHECK(stages.results.padding_is_untouched);
      CHECK(stages.results.status == std::vector<std::int32_t>(6, 0));
      for (std::int64_t i = 0; i < batch.rows(); ++i) {
        const auto row = batch.reference_row(i);
        const auto expected = reference_softmax(row);
        const bool greedy = row.temperature <= 1e-5f;
        const double scaled = greedy ? 0.0 : std::fabs(expected.maximum / row.temperature);
        int wrong = 0;
        for (std::int64_t v = 0; v < vocabulary; ++v) {
          const double p = stages.results.probabilities[i * vocabulary + v];
          const double exact = expected.probabilities[v];
          // The chunk's maximum is rounded in units of the temperature; so is its logarithm.
          const double relative =
              8 * (scaled + std::fabs(expected.z[v]) + expected.entropy_sum) + 60;
          wrong += std::fabs(p - exact) <= exact * relative * unit + 2 * FLT_MIN ? 0 : 1;
          if (!is_allowed(row, v)) wrong += p == 0.0 ? 0 : 1;
        }
        CAPTURE(vocabulary, active, i);
        CHECK(wrong == 0);
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("the stages report bad rows and zero them, others keep their bits", "",
                        Backends) {
  const auto good = staged_batch<typename TestType::logit>(5000, 0);
  const auto expected = stages_of<TestType>(good);
  auto bad = good;
  bad.logits[1 * 5000 + 4500] = std::numeric_limits<float>::quiet_NaN();
  bad.logits[3 * 5000 + 17] = std::numeric_limits<float>::infinity();
  std::fill_n(bad.bitmask.begin() + 4 * bad.words, bad.words, 0);
  bad.temperature[5] = -1.0f;
  const auto stages = stages_of<TestType>(bad);
  using tokkos::RowStatus;
  CHECK(stages.results.status ==
        std::vector<std::int32_t>{0, RowStatus::nan_logit, 0, RowStatus::positive_infinity,
                                  RowStatus::empty, RowStatus::invalid_parameter});
  for (const int row : {1, 3, 5}) CHECK(stages.first_status[row] == stages.results.status[row]);
  for (const int chunk : {3, 6, 10, 11}) {  // the bad chunks of rows 1, 3 and 5
    CHECK(stages.chunked_max[chunk] == -FLT_MAX);
    CHECK(std::isnan(stages.chunked_sum[chunk]));
  }
  const auto row_of = [](const Stages& of, int row) {
    const auto begin = of.results.probabilities.begin() + row * 5000;
    return std::vector<float>(begin, begin + 5000);
  };
  for (const int row : {0, 2}) CHECK(row_of(stages, row) == row_of(expected, row));
  for (const int row : {1, 3, 4, 5}) CHECK(row_of(stages, row) == std::vector<float>(5000, 0.0f));
}

TEMPLATE_LIST_TEST_CASE("stage buffers of the wrong shape are an error before anything is written",
                        "", Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.logits.assign(3 * 5000, 1.0f);
  const DeviceRows<TestType> device(batch);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> good("good", 3, 2);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> narrow("narrow", 3, 1);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> low("low", 2, 2);
  Kokkos::deep_copy(good, -5.0f);
  for (const auto& bad : {narrow, low}) {
    const auto sum = thrown_by([&] { tokkos::chunk_lse(space, device.rows, bad, good); });
    const auto max = thrown_by([&] { tokkos::chunk_lse(space, device.rows, good, bad); });
    REQUIRE((sum.has_value() && max.has_value()));
    CHECK(sum->field().find("chunked_sum") == 0);
    CHECK(max->field().find("chunked_max") == 0);
    const auto second = thrown_by([&] {
      tokkos::softmax_with_chunked_sum(space, device.rows, good, bad, device.probabilities);
    });
    REQUIRE(second.has_value());
    CHECK(second->field().find("chunked_max") == 0);
  }
  CHECK(on_host(good) == std::vector<float>(6, -5.0f));
  RowResults results;
  device.read_probabilities(results);
  CHECK(results.probabilities == std::vector<float>(15000, DeviceRows<TestType>::canary));
}

TEMPLATE_LIST_TEST_CASE("the second stage works in place", "", ExecutionSpaces) {
  using Backend = tokkos::test::Backend<TestType, float>;
  const TestType space;
  const auto batch = staged_batch<float>(5000, 4500);
  const auto expected = stages_of<Backend>(batch);
  const DeviceRows<Backend> device(batch);
  const auto sum = on_device<typename TestType::memory_space>(expected.chunked_sum, 2, 0, 0.0f);
  const auto max = on_device<typename TestType::memory_space>(expected.chunked_max, 2, 0, 0.0f);
  const auto logits = device.block().logits();
  tokkos::softmax_with_chunked_sum(space, device.rows, sum, max, logits, device.status);
  space.fence("tokkos::test::in_place");
  std::vector<std::uint32_t> patterns;
  for (const float p : expected.results.probabilities) {
    patterns.push_back(std::bit_cast<std::uint32_t>(p));
  }
  CHECK(device.block().patterns() == patterns);
  const auto shifted = tokkos::Matrix<float, typename TestType::memory_space>(
      logits.data() + 1, Kokkos::LayoutStride(6, logits.stride(0), 5000, 1));
  CHECK(thrown_by([&] {
          tokkos::softmax_with_chunked_sum(space, device.rows, sum, max, shifted);
        }).has_value());
}
