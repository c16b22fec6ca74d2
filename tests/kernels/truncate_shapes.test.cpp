// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/truncate.hpp>

#include "backends.hpp"
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
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEMPLATE_LIST_TEST_CASE("rows of unusual shape are truncated where sorting them does", "",
                        Backends) {
  using Logit = typename TestType::logit;
  constexpr std::int64_t vocabulary = 30000;
  const auto normal = row_to_truncate<Logit>(vocabulary, 1.0f);
  const auto check = [&](const RowBatch& batch) {
    return wrong_cuts<TestType>(batch, all_limits(vocabulary));
  };
  SECTION("peaked") {
    auto batch = normal;
    batch.logits[12345] += 30.0f;
    batch.logits = stored_values<Logit>(batch.logits);
    CHECK(check(batch) == 0);
  }
  SECTION("ascending and descending") {
    auto batch = normal;
    std::sort(batch.logits.begin(), batch.logits.end());
    CHECK(check(batch) == 0);
    std::reverse(batch.logits.begin(), batch.logits.end());
    CHECK(check(batch) == 0);
  }
  SECTION("far from zero") {
    auto batch = normal;
    for (auto& x : batch.logits) x += 1000.0f;
    batch.logits = stored_values<Logit>(batch.logits);
    CHECK(check(batch) == 0);
  }
  SECTION("almost everything forbidden, in one of the ways there are") {
    auto batch = normal;
    for (std::size_t v = 0; v < batch.logits.size(); ++v) {
      if (v % 1000 != 7) batch.logits[v] = v % 2 == 0 ? -infinity : stored_value<Logit>(-FLT_MAX);
    }
    CHECK(check(batch) == 0);
    batch.temperature = {1e38f};
    CHECK(check(batch) == 0);
  }
  SECTION("whole chunks forbidden") {
    auto batch = normal;
    std::fill(batch.logits.begin() + 4096, batch.logits.begin() + 3 * 4096, -infinity);
    CHECK(check(batch) == 0);
  }
  SECTION("the mass in a few blocks of each chunk") {
    for (const std::size_t block : {0, 7, 36, 63, 64, 90, 113, 127}) {
      auto batch = normal;
      for (std::size_t v = 0; v < batch.logits.size(); ++v) {
        if (v / 32 % 128 == block) batch.logits[v] += 16.0f;
      }
      batch.logits = stored_values<Logit>(batch.logits);
      CAPTURE(block);
      CHECK(check(batch) == 0);
    }
  }
  SECTION("differences of logits that overflow") {
    auto batch = normal;
    for (std::size_t v = 0; v < batch.logits.size(); ++v) {
      batch.logits[v] = v < 100 || v % 4096 == 0 ? 0.0f : -2.2e38f;
    }
    batch.logits[50] = 2.2e38f;
    batch.logits = stored_values<Logit>(batch.logits);
    batch.temperature = {1e38f};
    const std::vector<ReferenceLimits> limits{{0, 0.02f, 0}, {0, 0.2f, 0}, {0, 0.9f, 0}};
    CHECK(wrong_cuts<TestType>(batch, limits) == 0);
  }
  SECTION("extreme logits and temperatures") {
    auto batch = normal;
    batch.logits[3] = stored_value<Logit>(6e4f);
    batch.logits[5000] = stored_value<Logit>(-6e4f);
    for (const float temperature : {1.1e-5f, 1e5f, 1e38f}) {
      batch.temperature = {temperature};
      CAPTURE(temperature);
      CHECK(check(batch) == 0);
    }
  }
}

namespace {

constexpr std::int64_t long_row = 30000;

/// Whether a kernel that looks at a sample of a long row first finds this token in it. (If it takes
/// another sample, the case below is one like any other.)
bool is_in_sample(std::int64_t token) {
  const std::int64_t chunk = token / 4096;
  return (token % 4096 / 32 + 16 * 29 - 29 * chunk - 7) % 16 == 0;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a sample that misleads changes nothing", "", Backends) {
  using Logit = typename TestType::logit;
  RandomValues random(74);
  auto batch = row_to_truncate<Logit>(long_row, 1.0f);
  auto limits = all_limits(long_row);
  limits.push_back({0, 0.75f, 0});
  SECTION("the largest logits, and all of them") {
    for (std::int64_t v = 0; v < long_row; ++v) {
      batch.logits[static_cast<std::size_t>(v)] += is_in_sample(v) ? 20.0f : 0.0f;
    }
  }
  SECTION("none of the logits that half of the mass has") {
    for (std::int64_t v = 0; v < long_row; ++v) {
      // Many large logits in half of the places, few in the others.
      const bool is_large = is_in_sample(v) || random.below(100) < (v / 256 % 2 == 0 ? 40 : 5);
      batch.logits[static_cast<std::size_t>(v)] =
          (is_large ? 12.0f : 10.0f) + 0.1f * random.uniform();
    }
  }
  batch.logits = stored_values<Logit>(batch.logits);
  CHECK(wrong_cuts<TestType>(batch, limits) == 0);
}

TEMPLATE_LIST_TEST_CASE("min-p ends a row anywhere around the end of the share", "", Backends) {
  for (const std::int64_t vocabulary : {33, 9000}) {
    const auto batch = row_to_truncate<typename TestType::logit>(vocabulary, 1.0f);
    const SortedRow sorted(batch.reference_row(0));
    std::vector<ReferenceLimits> limits;
    for (std::size_t i = 0; i < 33; ++i) {
      const auto share = static_cast<float>(sorted.masses()[i]) * 0x1p-44f;
      for (const float top_p : {0.3f, 0.5f, 0.8f, 0.99f}) {
        limits.push_back({0, top_p, share});
        limits.push_back({0, top_p, std::min(std::nextafter(share, 2.0f), 1.0f)});
      }
    }
    CAPTURE(vocabulary);
    CHECK(wrong_cuts<TestType>(batch, limits) == 0);
  }
}
