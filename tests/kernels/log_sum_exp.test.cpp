// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/log_sum_exp.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEMPLATE_LIST_TEST_CASE("log_sum_exp is that of exact arithmetic within its roundings", "",
                        Backends) {
  const std::vector<float> temperatures{1.1e-5f, 1e-3f, 0.3f, 1.0f, 1.5f, 1000.0f};
  for (const std::int64_t vocabulary : {1, 33, 4096, 4097, 50257}) {
    for (const float center : {0.0f, -9.0f, 1e4f, -1e5f}) {
      RandomValues random(70);
      RowBatch batch;
      batch.vocabulary = vocabulary;
      batch.active = (vocabulary + 1) / 2;
      batch.temperature = temperatures;
      const auto rows = static_cast<std::int64_t>(temperatures.size());
      batch.logits =
          stored_values<typename TestType::logit>(random.logits(rows * vocabulary, 2.0f, center));
      const auto results = verbs_of<TestType>(batch, std::vector<float>(temperatures.size(), 0.5f));
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto expected = reference_softmax(batch.reference_row(i));
        CAPTURE(vocabulary, center, temperatures[i]);
        CHECK(std::fabs(results.log_sum_exp[i] - expected.log_sum_exp) <=
              expected.log_sum_exp_bound(temperatures[i]));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("log_sum_exp of k equal logits at zero is the logarithm of k", "",
                        Backends) {
  for (const std::int64_t k : {1, 2, 10, 4096, 5000}) {
    RowBatch batch;
    batch.vocabulary = k;
    batch.logits.assign(k, 0.0f);
    const double value = verbs_of<TestType>(batch, {0.5f}).log_sum_exp[0];
    CHECK(std::fabs(value - std::log(static_cast<double>(k))) <= std::log(k) * 1.1 * 0x1p-23);
  }
}

TEMPLATE_LIST_TEST_CASE("log_sum_exp of a greedy row is its maximum", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.temperature = {0.0f, 1e-5f};
  batch.logits = stored_values<typename TestType::logit>(RandomValues(71).logits(10000));
  const auto results = verbs_of<TestType>(batch, {0.5f, 0.5f});
  for (std::int64_t i = 0; i < 2; ++i) {
    CHECK(results.log_sum_exp[i] == reference_softmax(batch.reference_row(i)).maximum);
  }
}

TEMPLATE_LIST_TEST_CASE("a maximum of minus zero is plus zero, wherever it stands", "", Backends) {
  for (const std::int64_t length : {1, 31, 33, 4095, 4096, 4097, 9000}) {
    for (const bool masked : {false, true}) {
      CAPTURE(length, masked);
      RowBatch batch;
      batch.vocabulary = length;
      batch.temperature = {0.0f};
      batch.logits.assign(length, -0.0f);
      if (masked) {
        batch.words = (length + 31) / 32;
        batch.bitmask.assign(batch.words, -1);
        if (length > 1) batch.bitmask[0] = -2;
      }
      const float value = verbs_of<TestType>(batch, {0.5f}).log_sum_exp[0];
      CHECK(std::bit_cast<std::uint32_t>(value) == 0u);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("log_sum_exp saturates and is minus infinity only for an unusable row", "",
                        Backends) {
  using Logit = typename TestType::logit;
  RowBatch batch;
  batch.vocabulary = 2;
  const float large = stored_value<Logit>(3e38f);  // 65504 in float16
  const float small = std::same_as<Logit, tokkos::float16> ? 1.2e-5f : 0.5f;
  batch.temperature = {small, small, 1.0f, 1.0f, -1.0f, 0.0f};
  batch.logits = {large, 0.0f,      -large, -large, infinity, 0.0f,
                  0.0f,  -infinity, 1.0f,   1.0f,   -large,   -large};
  batch.words = 1;
  batch.bitmask = {3, 3, 3, 2, 3, 3};
  const auto value = verbs_of<TestType>(batch, std::vector<float>(6, 0.5f)).log_sum_exp;
  if constexpr (!std::same_as<Logit, tokkos::float16>) {
    CHECK(value[0] == FLT_MAX);
    CHECK(value[1] == -FLT_MAX);
  } else {
    CHECK(std::isfinite(value[0]));
    CHECK(std::isfinite(value[1]));
  }
  CHECK(value[2] == -infinity);  // an infinite logit
  CHECK(value[3] == -infinity);  // nothing allowed
  CHECK(value[4] == -infinity);  // a bad temperature
  CHECK(value[5] == -large);
}

TEMPLATE_LIST_TEST_CASE("log_sum_exp names an array that does not fit and writes nothing", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  RowBatch batch;
  batch.vocabulary = 10;
  batch.logits.assign(30, 1.0f);
  const typename TestType::execution_space space;
  const DeviceRows<TestType> device(batch);
  const auto two = on_device<Memory>(std::vector<float>{9.0f, 9.0f});
  const auto error = thrown_by([&] {
    tokkos::log_sum_exp<typename TestType::execution_space, typename TestType::logit>(
        space, device.rows, device.measures, two);
  });
  REQUIRE(error.has_value());
  CHECK(error->field().find("result") == 0);
  CHECK(error->value() == "2");
  CHECK(on_host(two) == std::vector<float>{9.0f, 9.0f});
}
