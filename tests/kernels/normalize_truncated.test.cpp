// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/normalize_truncated.hpp>
#include <tokkos/kernels/truncate.hpp>

#include "backends.hpp"
#include "kernels/kept_rows.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace tokkos::test;

/// Probabilities after `measure` and these cuts.
template <class Backend>
RowResults truncated(const RowBatch& batch, const std::vector<KeptRow>& kept) {
  const typename Backend::execution_space space;
  const DeviceRows<Backend> device(batch);
  const DeviceCuts<typename Backend::memory_space> cuts(kept);
  tokkos::measure(space, device.rows, device.measures, device.status);
  tokkos::normalize_truncated(space, device.rows, device.measures, cuts.cuts(),
                              device.probabilities);
  space.fence("tokkos::test::truncated");
  RowResults results;
  device.read_probabilities(results);
  return results;
}

/// Patterns of one row: -0 differs from +0.
std::vector<std::uint32_t> patterns_of(const std::vector<float>& values, std::int64_t row,
                                       std::int64_t vocabulary) {
  std::vector<std::uint32_t> patterns;
  for (std::int64_t v = 0; v < vocabulary; ++v) {
    patterns.push_back(std::bit_cast<std::uint32_t>(values[row * vocabulary + v]));
  }
  return patterns;
}

/// float32(a) / float32(mass), in double: both are rounded once, and so is the quotient.
std::vector<std::uint32_t> expected_patterns(const KeptRow& row) {
  std::vector<std::uint32_t> patterns;
  for (const auto a : row.masses) {
    const double quotient = static_cast<double>(static_cast<float>(a)) /
                            static_cast<double>(static_cast<float>(row.mass));
    patterns.push_back(a == 0 ? 0u : std::bit_cast<std::uint32_t>(static_cast<float>(quotient)));
  }
  return patterns;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("kept tokens share the mass of the cut, the others have exactly 0", "",
                        Backends) {
  for (const std::int64_t vocabulary : {1, 33, 4096, 4097, 20001}) {
    for (const bool masked : {false, true}) {
      const auto batch = rows_to_truncate<typename TestType::logit>(vocabulary, masked);
      for (const auto& counts : {std::vector<std::int64_t>{1, 2, 40, 3, 5},
                                 std::vector<std::int64_t>{vocabulary, 300, 1000, 50, 1}}) {
        const auto kept = keep_first(batch, counts);
        const auto results = truncated<TestType>(batch, kept);
        CAPTURE(vocabulary, masked);
        CHECK(results.padding_is_untouched);
        for (std::int64_t i = 0; i < 5; ++i) {
          const auto expected = expected_patterns(kept[static_cast<std::size_t>(i)]);
          CHECK((patterns_of(results.probabilities, i, vocabulary) == expected));
          double sum = 0.0;
          for (std::int64_t v = 0; v < vocabulary; ++v) {
            sum += static_cast<double>(results.probabilities[i * vocabulary + v]);
          }
          CHECK(std::fabs(sum - 1.0) <= 1e-6);
        }
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("rows that are not truncated and greedy rows get the bits of softmax", "",
                        Backends) {
  auto batch = rows_to_truncate<typename TestType::logit>(9001, true);
  batch.temperature = {1.0f, 0.0f, 1e-5f, 0.7f, 0.5f};
  auto kept = keep_first(batch, {-1, 1, -1, 7, -1});
  const auto expected = softmax_of<TestType>(batch).probabilities;
  const auto results = truncated<TestType>(batch, kept).probabilities;
  for (const std::int64_t i : {0, 1, 2, 4}) {
    CHECK((patterns_of(results, i, 9001) == patterns_of(expected, i, 9001)));
  }
  CHECK((patterns_of(results, 3, 9001) == expected_patterns(kept[3])));
}

TEMPLATE_LIST_TEST_CASE("a cut among equal logits goes by id", "", Backends) {
  for (const std::int64_t count : {1, 5, 4096, 4097, 8999}) {
    RowBatch batch;
    batch.vocabulary = 9000;
    batch.logits.assign(9000, 0.0f);
    for (std::int64_t v = 0; v < 9000; v += 3) batch.logits[v] = -0.0f;
    const auto p = truncated<TestType>(batch, keep_first(batch, {count})).probabilities;
    const auto share = 1.0f / static_cast<float>(count);
    int wrong = 0;
    for (std::int64_t v = 0; v < 9000; ++v) wrong += p[v] == (v < count ? share : 0.0f) ? 0 : 1;
    CHECK(wrong == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("unusable rows get 0 everywhere, the others keep every bit", "", Backends) {
  const auto good = rows_to_truncate<typename TestType::logit>(9001, true);
  auto kept = keep_first(good, {4, 4, 4, 4, -1});
  const auto expected = truncated<TestType>(good, kept).probabilities;
  auto bad = good;
  bad.logits[1 * 9001] = std::numeric_limits<float>::quiet_NaN();
  bad.temperature[4] = -1.0f;
  kept[3].count = 0;
  const auto results = truncated<TestType>(bad, kept).probabilities;
  for (const std::int64_t i : {0, 2}) {
    CHECK((patterns_of(results, i, 9001) == patterns_of(expected, i, 9001)));
  }
  for (const std::int64_t i : {1, 3, 4}) {
    CHECK((patterns_of(results, i, 9001) == std::vector<std::uint32_t>(9001, 0)));
  }
}

TEMPLATE_LIST_TEST_CASE("chunks of which nothing is kept are not read", "", Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  RowBatch batch;
  batch.vocabulary = 3 * 4096;
  batch.logits.assign(3 * 4096, 0.0f);
  batch.logits[4096 + 7] = 2.0f;
  batch.logits[4096 + 9] = 1.0f;
  const auto kept = keep_first(batch, {2});
  auto spoilt = batch;
  for (std::int64_t v = 0; v < 3 * 4096; ++v) {
    if (v / 4096 != 1) spoilt.logits[v] = 50.0f;
  }
  const DeviceRows<TestType> device(batch), other(spoilt);
  const DeviceCuts<Memory> cuts(kept);
  tokkos::measure(space, device.rows, device.measures);
  tokkos::normalize_truncated(space, other.rows, device.measures, cuts.cuts(), other.probabilities);
  space.fence("tokkos::test::truncated");
  RowResults results;
  other.read_probabilities(results);
  CHECK((patterns_of(results.probabilities, 0, 3 * 4096) == expected_patterns(kept[0])));
}

TEMPLATE_LIST_TEST_CASE("a truncated row has the same bits alone and anywhere in a batch", "",
                        Backends) {
  const auto batch = rows_to_truncate<typename TestType::logit>(9001, true);
  const auto kept = keep_first(batch, {40, -1, 300, 6, 1});
  const auto expected = truncated<TestType>(batch, kept).probabilities;
  for (const auto& order : row_orders) {
    const auto results = truncated<TestType>(rows_listed(batch, order), rows_listed(kept, order));
    CHECK((results.probabilities == rows_listed(expected, order, 9001)));
  }
}

TEMPLATE_LIST_TEST_CASE("truncated probabilities may be written over float32 logits", "",
                        ExecutionSpaces) {
  using Float = tokkos::test::Backend<TestType, float>;
  const TestType space;
  const auto batch = rows_to_truncate<float>(9001, true);
  const auto kept = keep_first(batch, {40, -1, 300, 6, 1});
  const auto expected = truncated<Float>(batch, kept).probabilities;
  const DeviceRows<Float> device(batch);
  const DeviceCuts<typename TestType::memory_space> cuts(kept);
  tokkos::measure(space, device.rows, device.measures);
  tokkos::normalize_truncated(space, device.rows, device.measures, cuts.cuts(),
                              device.block().logits());
  space.fence("tokkos::test::truncated");
  std::vector<std::uint32_t> patterns;
  for (const float p : expected) patterns.push_back(std::bit_cast<std::uint32_t>(p));
  CHECK((device.block().patterns() == patterns));
  CHECK(device.block().padding_is_untouched());
}

TEMPLATE_LIST_TEST_CASE("truncate's cuts are kept as the same cuts made by sorting", "", Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  for (const bool masked : {false, true}) {
    const auto batch = rows_to_truncate<typename TestType::logit>(9001, masked);
    const auto expected = truncated<TestType>(batch, keep_first(batch, {40, -1, 300, 6, 1}));
    const DeviceRows<TestType> device(batch);
    const auto top_k = on_device<Memory>(std::vector<std::int32_t>{40, 0, 300, 6, 1});
    const tokkos::CutsWorkspace<Memory> workspace(5);
    tokkos::Truncation<Memory> truncation;
    truncation.top_k = top_k;
    tokkos::measure(space, device.rows, device.measures);
    tokkos::truncate(space, device.rows, device.measures, truncation, workspace.cuts(5));
    tokkos::normalize_truncated(space, device.rows, device.measures, workspace.cuts(5),
                                device.probabilities);
    space.fence("tokkos::test::truncated");
    RowResults results;
    device.read_probabilities(results);
    CHECK((results.probabilities == expected.probabilities));
  }
}

TEMPLATE_LIST_TEST_CASE("normalize_truncated names an array that does not fit and writes nothing",
                        "", Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  const auto batch = rows_to_truncate<typename TestType::logit>(33, false);
  const DeviceRows<TestType> device(batch);
  const DeviceCuts<Memory> cuts(keep_first(batch, {1, 1, 1, 1, 1}));
  const DeviceCuts<Memory> four(keep_first(batch, {1, 1, 1, 1}));
  tokkos::measure(space, device.rows, device.measures);
  const auto field_of = [&](const tokkos::RowCuts<Memory>& given, const auto& out) {
    const auto error = thrown_by(
        [&] { tokkos::normalize_truncated(space, device.rows, device.measures, given, out); });
    return error ? error->field() : std::string("none");
  };
  auto mixed = cuts.cuts();
  mixed.mass = four.cuts().mass;
  CHECK(field_of(four.cuts(), device.probabilities).find("cuts.logit") == 0);
  CHECK(field_of(mixed, device.probabilities).find("cuts.mass") == 0);
  CHECK(field_of({}, device.probabilities).find("cuts") == 0);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> narrow("narrow", 5, 32);
  CHECK(field_of(cuts.cuts(), narrow).find("probabilities") == 0);
  RowResults results;
  device.read_probabilities(results);
  CHECK((results.probabilities == std::vector<float>(5 * 33, DeviceRows<TestType>::canary)));
}
