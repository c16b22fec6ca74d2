// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/truncate.hpp>

#include <tokkos/core/row_status.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "kernels/row_limits.hpp"
#include "reference/random_values.hpp"
#include "reference/truncation_reference.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEMPLATE_LIST_TEST_CASE("truncation cuts a row where sorting it does", "", Backends) {
  for (const std::int64_t vocabulary : {1, 33, 4095, 4097, 50257}) {
    for (const float temperature : {0.05f, 0.8f, 50.0f}) {
      for (const bool masked : {false, true}) {
        const auto batch =
            row_to_truncate<typename TestType::logit>(vocabulary, temperature, masked);
        const auto active = masked ? batch.active : vocabulary;
        CAPTURE(vocabulary, temperature, masked);
        CHECK(wrong_cuts<TestType>(batch, all_limits(active)) == 0);
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("truncation cuts a long row where sorting it does", "", Backends) {
  const auto batch = row_to_truncate<typename TestType::logit>(262144, 1.0f);
  CHECK(wrong_cuts<TestType>(batch, all_limits(262144)) == 0);
}

TEMPLATE_LIST_TEST_CASE("equal logits are truncated by id, across chunks", "", Backends) {
  RandomValues random(71);
  for (const std::int64_t vocabulary : {33, 4097, 20000}) {
    RowBatch batch;
    batch.vocabulary = vocabulary;
    for (const int levels : {1, 2, 5}) {
      batch.logits.assign(static_cast<std::size_t>(vocabulary), 0.0f);
      for (auto& x : batch.logits) x = 0.5f * static_cast<float>(random.below(levels));
      // A zero's sign makes no difference.
      for (auto& x : batch.logits) x = x == 0.0f && random.below(2) == 0 ? -0.0f : x;
      auto limits = all_limits(vocabulary);
      for (const std::int32_t k : {31, 32, 4095, 4096, 8191, 8193, 12288}) {
        limits.push_back({.top_k = k});
        limits.push_back({.top_k = k, .top_p = 0.5f});
      }
      CAPTURE(vocabulary, levels);
      CHECK(wrong_cuts<TestType>(batch, limits) == 0);
    }
  }
}

// A share that lies less than one unit of the masses behind the first token still needs the second.
TEMPLATE_LIST_TEST_CASE("a share between two masses of top-k keeps the token that reaches it", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 3;
  batch.logits = {0.0f, -1.0f, -2.0f};
  int between = 0;
  for (int k = 1; k <= 24; ++k) {
    const float top_p = 1.0f - static_cast<float>(k) * 0x1p-24f;
    const auto inverse = static_cast<float>(24 * std::log(2.0) - std::log(k));
    for (int step = -6; step <= 6; ++step) {
      // So that the second token has about k / 2^24 of the first one's mass.
      batch.temperature = {1.0f / (inverse + static_cast<float>(step) * 0x1p-20f)};
      const auto masses = SortedRow(batch.reference_row(0)).masses();
      // top_p (first + second) - first, in units of 2^-24
      const std::int64_t behind = (masses[1] << 24) - k * (masses[0] + masses[1]);
      between += behind > 0 && behind < (1 << 24) ? 1 : 0;
      CAPTURE(k, step, behind);
      CHECK(wrong_cuts<TestType>(batch, {{.top_k = 2, .top_p = top_p}}) == 0);
    }
  }
  CHECK(between > 0);
}

TEMPLATE_LIST_TEST_CASE("a row is truncated alike alone and anywhere in a batch", "", Backends) {
  constexpr std::int64_t vocabulary = 9000;
  const std::vector<ReferenceLimits> limits{{40, 0.9f, 0.0f}, {}, {0, 0.95f, 0.01f}, {700, 1, 0}};
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.logits =
      stored_values<typename TestType::logit>(RandomValues(72).logits(4 * vocabulary, 3.0f));
  batch.temperature = {1.0f, 0.7f, 1.3f, 0.0f};
  // Rows 0 to 3 with limits 0 to 3 many times, in some order.
  std::vector<ReferenceLimits> given;
  std::vector<float> temperatures;
  for (std::int32_t i = 0; i < 37; ++i) {
    const std::int32_t row = i * 7 % 4;
    batch.row_index.push_back(row);
    temperatures.push_back(batch.temperature[static_cast<std::size_t>(row)]);
    given.push_back(limits[static_cast<std::size_t>(row)]);
  }
  batch.temperature = temperatures;
  const auto together = cuts_of<TestType>(batch, given);
  for (std::size_t i = 0; i < 37; ++i) {
    auto alone = batch;
    alone.row_index = {batch.row_index[i]};
    alone.temperature = {temperatures[i]};
    const auto found = cuts_of<TestType>(alone, {given[i]});
    CAPTURE(i);
    CHECK(found.count[0] == together.count[i]);
    CHECK(found.token[0] == together.token[i]);
    CHECK(found.logit[0] == together.logit[i]);
    CHECK(found.mass[0] == together.mass[i]);
  }
}

TEMPLATE_LIST_TEST_CASE("one value of a parameter holds for all rows", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.logits = stored_values<typename TestType::logit>(RandomValues(73).logits(3 * 5000));
  const std::vector<ReferenceLimits> each(3, {50, 0.8f, 0.001f});
  const auto expected = cuts_of<TestType>(batch, each);
  const auto found = cuts_of<TestType>(batch, {each[0]});
  CHECK(found.count == expected.count);
  CHECK(found.token == expected.token);
  CHECK(found.mass == expected.mass);
  CHECK(expected.count[0] > 1);

  const auto untouched = cuts_of<TestType>(batch, {});  // nothing given
  CHECK(untouched.count == std::vector<std::int32_t>(3, -1));
}

TEMPLATE_LIST_TEST_CASE("greedy rows ignore truncation", "", Backends) {
  auto batch = row_to_truncate<typename TestType::logit>(5000, 0.0f);
  for (const float temperature : {0.0f, 1e-5f}) {
    batch.temperature = {temperature};
    CHECK(cuts_of<TestType>(batch, {{3, 0.5f, 0.5f}}).count[0] == -1);
  }
  batch.temperature = {1.1e-5f};
  CHECK(cuts_of<TestType>(batch, {{3, 1.0f, 0.0f}}).count[0] == 3);
}

TEMPLATE_LIST_TEST_CASE("a bad parameter makes its row unusable, and no other", "", Backends) {
  const std::vector<ReferenceLimits> limits{
      {40, 0.9f, 0.1f},    {-1, 1, 0},       {0, 0.0f, 0},         {0, -0.5f, 0},
      {0, 1.0001f, 0},     {0, infinity, 0}, {0, not_a_number, 0}, {0, 1, -FLT_TRUE_MIN},
      {0, 1, 1.0001f},     {0, 1, infinity}, {0, 1, not_a_number}, {40, 0.9f, 0.1f},
      {5, not_a_number, 0}};
  auto batch = repeated(row_to_truncate<typename TestType::logit>(5000, 1.0f), limits);
  const auto found = cuts_of<TestType>(batch, limits);
  const auto usable =
      cuts_of<TestType>(row_to_truncate<typename TestType::logit>(5000, 1.0f), {limits[0]});
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const bool is_good = i == 0 || i == 11;
    CAPTURE(i);
    CHECK(found.status[i] == (is_good ? 0 : tokkos::RowStatus::invalid_parameter));
    CHECK(found.count[i] == (is_good ? usable.count[0] : 0));
    CHECK((found.row_mass[i] > 0) == is_good);
    CHECK((found.row_maximum[i] == -infinity) == !is_good);
    if (is_good) CHECK(found.mass[i] == usable.mass[0]);
  }
}

TEMPLATE_LIST_TEST_CASE("unusable rows keep nothing", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 100;
  batch.logits.assign(400, 1.0f);
  batch.logits[50] = not_a_number;
  batch.logits[150] = infinity;
  std::fill(batch.logits.begin() + 200, batch.logits.begin() + 300, -infinity);
  const std::vector<ReferenceLimits> limits(4, {10, 0.9f, 0.0f});
  CHECK(cuts_of<TestType>(batch, limits).count == std::vector<std::int32_t>{0, 0, 0, 9});
  CHECK(cuts_of<TestType>(batch, {}).count == std::vector<std::int32_t>{0, 0, 0, -1});
}

TEMPLATE_LIST_TEST_CASE("truncate names an array that does not fit", "", Backends) {
  using Memory = typename TestType::memory_space;
  RowBatch batch;
  batch.vocabulary = 10;
  batch.logits.assign(30, 1.0f);
  const typename TestType::execution_space space;
  const DeviceRows<TestType> device(batch);
  const tokkos::CutsWorkspace<Memory> workspace(3);
  const Kokkos::View<std::int32_t*, Memory> two("two", 2);
  const Kokkos::View<float*, Memory> two_floats("two", 2);
  const auto field_of = [&](const tokkos::Truncation<Memory>& truncation,
                            const tokkos::RowCuts<Memory>& cuts,
                            const tokkos::Vector<std::int32_t, Memory>& status) {
    const auto error =
        thrown_by([&] { truncate(space, device.rows, device.measures, truncation, cuts, status); });
    return error ? error->field() : std::string("none");
  };
  const auto cuts = workspace.cuts(3);
  CHECK(field_of({.top_k = two}, cuts, {}) == "top_k.extent");
  CHECK(field_of({.top_p = two_floats}, cuts, {}) == "top_p.extent");
  CHECK(field_of({.min_p = two_floats}, cuts, {}) == "min_p.extent");
  CHECK(field_of({}, workspace.cuts(2), {}) == "cuts.logit.extent");
  CHECK(field_of({}, cuts, two) == "row_status.extent");
}

TEST_CASE("a workspace of cuts says what it takes and what it was asked for") {
  using Memory = Kokkos::HostSpace;
  CHECK(tokkos::cuts_workspace_bytes(7) == 140);
  const auto field = [](const auto& call) { return thrown_by(call).value().field(); };
  CHECK(field([] { tokkos::cuts_workspace_bytes(-1); }) == "max_rows");
  CHECK(field([] { tokkos::CutsWorkspace<Memory> workspace(-1); }) == "max_rows");
  tokkos::CutsWorkspace<Memory> workspace(3);
  CHECK(workspace.cuts(3).count.extent(0) == 3);
  CHECK(field([&] { workspace.cuts(4); }) == "rows");
  CHECK(field([&] { workspace.cuts(-1); }) == "rows");
  const tokkos::CutsWorkspace<Memory> taken(std::move(workspace));
  CHECK(field([&] { workspace.cuts(1); }) == "Kokkos");
  CHECK(taken.cuts(3).count.extent(0) == 3);
}
