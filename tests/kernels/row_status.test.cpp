// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/row_status.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace tokkos::test;
using tokkos::RowStatus;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t vocabulary = 9000;
constexpr std::int64_t rows = 14;

template <class Logit>
RowBatch good_batch() {
  RandomValues random(80);
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.active = 8990;
  batch.logits = stored_values<Logit>(random.logits(rows * vocabulary));
  batch.words = 282;
  batch.bitmask.assign(rows * batch.words, -1);
  batch.temperature.assign(rows, 0.8f);
  return batch;
}

void forbid(RowBatch& batch, std::int64_t row, std::int64_t token) {
  auto& word = batch.bitmask[row * batch.words + token / 32];
  word &= static_cast<std::int32_t>(~(1u << (token % 32)));
}

/// Odd rows of the good batch get what a row can have wrong; even ones stay good.
RowBatch spoilt(RowBatch batch) {
  const auto logit = [&](std::int64_t row, std::int64_t token) -> float& {
    return batch.logits[row * vocabulary + token];
  };
  logit(1, 8989) = not_a_number;
  logit(3, 4096) = infinity;
  std::fill_n(batch.bitmask.begin() + 5 * batch.words, batch.words, 0);
  batch.temperature[7] = not_a_number;
  batch.temperature[9] = -1.0f;
  logit(11, 0) = infinity;
  logit(11, 8000) = -not_a_number;
  std::fill_n(batch.logits.begin() + 13 * vocabulary, 8990, -infinity);
  return batch;
}

const std::vector<std::int32_t> expected_status{
    0, RowStatus::nan_logit,
    0, RowStatus::positive_infinity,
    0, RowStatus::empty,
    0, RowStatus::invalid_parameter,
    0, RowStatus::invalid_parameter,
    0, RowStatus::nan_logit | RowStatus::positive_infinity,
    0, RowStatus::empty};

template <class T>
std::vector<T> row_of(const std::vector<T>& values, std::int64_t row) {
  const auto width = static_cast<std::int64_t>(values.size()) / rows;
  return {values.begin() + row * width, values.begin() + (row + 1) * width};
}

bool all_plus_zero(const std::vector<float>& p) {
  return std::all_of(p.begin(), p.end(),
                     [](float x) { return std::bit_cast<std::uint32_t>(x) == 0; });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("bad rows are flagged and zeroed, the others keep every bit", "",
                        Backends) {
  const auto good = good_batch<typename TestType::logit>();
  const auto bad = spoilt(good);
  const auto uniforms = RandomValues(81).uniforms(rows);
  const auto expected = verbs_of<TestType>(good, uniforms);
  const auto results = verbs_of<TestType>(bad, uniforms);
  const auto fused = softmax_of<TestType>(bad);
  CHECK(results.status == expected_status);
  CHECK(fused.status == expected_status);
  CHECK(results.padding_is_untouched);
  for (std::int64_t i = 0; i < rows; i += 2) {
    CHECK(row_of(results.probabilities, i) == row_of(expected.probabilities, i));
    CHECK(row_of(fused.probabilities, i) == row_of(expected.probabilities, i));
    CHECK(row_of(results.chunk_sum, i) == row_of(expected.chunk_sum, i));
    CHECK(results.tokens[i] == expected.tokens[i]);
    CHECK(results.argmax[i] == expected.argmax[i]);
    CHECK(results.log_sum_exp[i] == expected.log_sum_exp[i]);
  }
  for (std::int64_t i = 1; i < rows; i += 2) {
    CHECK(all_plus_zero(row_of(results.probabilities, i)));
    CHECK(all_plus_zero(row_of(fused.probabilities, i)));
    CHECK(results.tokens[i] == -1);
    CHECK(results.argmax[i] == -1);
    CHECK(results.log_sum_exp[i] == -infinity);
    CHECK(results.row_mass[i] == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("NaN and infinity on forbidden tokens are not looked at", "", Backends) {
  using Logit = typename TestType::logit;
  auto batch = good_batch<Logit>();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (const std::int64_t token : {0, 33, 4095, 4096, 8989}) forbid(batch, i, token);
  }
  const auto uniforms = RandomValues(82).uniforms(rows);
  const auto expected = verbs_of<TestType>(batch, uniforms);
  for (std::int64_t i = 0; i < rows; ++i) {
    float* row = batch.logits.data() + i * vocabulary;
    for (const std::int64_t token : {0, 4095, 8989, 8990}) row[token] = not_a_number;
    for (const std::int64_t token : {33, 4096, 8991, 8999}) row[token] = infinity;
  }
  const auto results = verbs_of<TestType>(batch, uniforms);
  CHECK(results.status == std::vector<std::int32_t>(rows, 0));
  CHECK(results.probabilities == expected.probabilities);
  CHECK(results.tokens == expected.tokens);
  CHECK(results.log_sum_exp == expected.log_sum_exp);
  CHECK(softmax_of<TestType>(batch).probabilities == expected.probabilities);
}

TEMPLATE_LIST_TEST_CASE("bits are added to what the status holds", "", Backends) {
  auto batch = good_batch<typename TestType::logit>();
  batch = spoilt(batch);
  const typename TestType::execution_space space;
  const DeviceRows<TestType> device(batch);
  Kokkos::deep_copy(device.status, RowStatus::invalid_edit);
  tokkos::measure(space, device.rows, device.measures, device.status);
  tokkos::softmax(space, device.rows, device.measures, device.probabilities, device.status);
  space.fence("tokkos::test::status");
  auto expected = expected_status;
  for (auto& status : expected) status |= RowStatus::invalid_edit;
  CHECK(on_host(device.status) == expected);
}

TEMPLATE_LIST_TEST_CASE("the status is optional", "", Backends) {
  const auto batch = spoilt(good_batch<typename TestType::logit>());
  const auto expected = softmax_of<TestType>(batch).probabilities;
  const typename TestType::execution_space space;
  const DeviceRows<TestType> device(batch);
  tokkos::softmax(space, device.rows, device.measures, device.probabilities);
  space.fence("tokkos::test::status");
  RowResults results;
  device.read_probabilities(results);
  CHECK(results.probabilities == expected);
}

TEMPLATE_LIST_TEST_CASE("every fact about a row sets its own bit", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 3;
  batch.temperature = {not_a_number, -1.0f, infinity, not_a_number, -1e-30f, -0.0f};
  batch.logits = {not_a_number, 1.0f, infinity, -infinity, -infinity, -infinity,
                  1.0f,         2.0f, 3.0f,     1.0f,      infinity,  0.0f,
                  1.0f,         2.0f, 3.0f,     1.0f,      2.0f,      3.0f};
  const std::vector<std::int32_t> expected{
      RowStatus::invalid_parameter | RowStatus::nan_logit | RowStatus::positive_infinity,
      RowStatus::invalid_parameter | RowStatus::empty,
      RowStatus::invalid_parameter,
      RowStatus::invalid_parameter | RowStatus::positive_infinity,
      RowStatus::invalid_parameter,
      0};
  CHECK(verbs_of<TestType>(batch, std::vector<float>(6, 0.5f)).status == expected);
  CHECK(softmax_of<TestType>(batch).status == expected);
}

TEMPLATE_LIST_TEST_CASE("a row or mask index outside the Views makes its own row unusable only", "",
                        Backends) {
  auto batch = good_batch<typename TestType::logit>();
  const auto expected = softmax_of<TestType>(batch);
  batch.row_index = {0, -1, 2, rows, 4, 2147483647, 6, -2147483647};
  batch.mask_index = {0, 1, rows, 3, 4, 5, -2, 7};
  batch.temperature.assign(8, 0.8f);
  const auto results = verbs_of<TestType>(batch, std::vector<float>(8, 0.5f));
  for (const std::int64_t i : {0, 4}) {
    CHECK(results.status[i] == 0);
    const auto begin = results.probabilities.begin() + i * vocabulary;
    CHECK(std::vector<float>(begin, begin + vocabulary) == row_of(expected.probabilities, i));
  }
  for (const std::int64_t i : {1, 2, 3, 5, 6, 7}) {
    CHECK(results.status[i] == tokkos::RowStatus::invalid_parameter);
    CHECK(results.tokens[i] == -1);
    CHECK(results.argmax[i] == -1);
    const auto begin = results.probabilities.begin() + i * vocabulary;
    CHECK(all_plus_zero({begin, begin + vocabulary}));
  }
}
