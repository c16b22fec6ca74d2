// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Outputs beyond 16 MiB: a host keeps the weights of a row apart and streams the probabilities.

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr std::int64_t rows = 72;
constexpr std::int64_t vocabulary = 65535;  // with the padding, no row begins at a line of memory
static_assert(rows * vocabulary * sizeof(float) > std::size_t{16} << 20);

template <class Logit>
RowBatch large_batch(std::int64_t active) {
  RandomValues random(77);
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.active = active;
  batch.logits = stored_values<Logit>(random.logits(rows * vocabulary));
  for (std::int64_t i = 0; i < rows; ++i) {
    batch.temperature.resize(static_cast<std::size_t>(i) + 1, i % 5 == 0 ? 0.0f : 0.3f * (i % 5));
    batch.mask_index.push_back(i % 3 == 0 ? 0 : -1);
  }
  batch.words = (vocabulary + 31) / 32;
  batch.bitmask = random.words(batch.words, 3);
  batch.bitmask[0] |= 1;
  batch.logits[7 * vocabulary + 5000] = std::numeric_limits<float>::quiet_NaN();
  return batch;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("large outputs hold the bits of small ones", "[sameness]", Backends) {
  for (const std::int64_t active : {std::int64_t{0}, std::int64_t{40000}}) {
    const auto batch = large_batch<typename TestType::logit>(active);
    const auto large = softmax_of<TestType>(batch);
    const auto by_chunk = verbs_of<TestType>(batch, std::vector<float>(rows, 0.5f));
    CHECK(large.probabilities == by_chunk.probabilities);
    CHECK(large.row_mass == by_chunk.row_mass);
    CHECK(large.status == by_chunk.status);
    CHECK(large.status[7] == tokkos::RowStatus::nan_logit);
    CHECK(large.padding_is_untouched);
    for (const std::int64_t i : {0, 1, 71}) {
      const auto expected = reference_softmax(batch.reference_row(i));
      double worst = 0.0;
      for (std::int64_t v = 0; v < vocabulary; ++v) {
        const double p = large.probabilities[static_cast<std::size_t>(i * vocabulary + v)];
        worst =
            std::fmax(worst, std::fabs(p - expected.probabilities[static_cast<std::size_t>(v)]));
      }
      CHECK(worst <= 1e-6);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("large outputs in place hold the bits of separate ones", "",
                        ExecutionSpaces) {
  using Backend = tokkos::test::Backend<TestType, float>;
  const auto batch = large_batch<float>(40000);
  const auto separate = softmax_of<Backend>(batch);
  const DeviceRows<Backend> device(batch);
  const TestType space;
  tokkos::softmax(space, device.rows, device.measures, device.block().logits(), device.status);
  space.fence("tokkos::test::in_place");
  std::vector<std::uint32_t> patterns;
  for (const float p : separate.probabilities) patterns.push_back(std::bit_cast<std::uint32_t>(p));
  CHECK(device.block().patterns() == patterns);
  CHECK(device.block().padding_is_untouched());
}
