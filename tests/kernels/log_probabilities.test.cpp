// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/log_probabilities.hpp>

#include "backends.hpp"
#include "engine/kokkos_events.hpp"
#include "kernels/guarded.hpp"
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
using tokkos::RowStatus;

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Scored {
  std::vector<float> values;  ///< [n, m]
  std::vector<std::int32_t> status;
};

/// Log-probabilities of tokens [n, m]. Without `kept`, no cuts are given.
template <class Backend>
Scored scores(const RowBatch& batch, const std::vector<std::int32_t>& tokens,
              const std::vector<KeptRow>& kept = {}) {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const auto n = static_cast<std::size_t>(batch.rows());
  const std::size_t m = tokens.size() / n;
  const DeviceRows<Backend> device(batch);
  const DeviceCuts<Memory> cuts(kept);
  Guarded<std::int32_t, Memory> ids(n, m, 3, tokens);
  Guarded<float, Memory> result(n, m, 2, std::vector<float>(n * m, -7.0f));
  tokkos::measure(space, device.rows, device.measures, device.status);
  tokkos::log_probabilities(space, device.rows, device.measures, ids.matrix(), result.matrix(),
                            kept.empty() ? tokkos::RowCuts<Memory>{} : cuts.cuts(), device.status);
  space.fence("tokkos::test::scores");
  Scored scored{result.values(), on_host(device.status)};
  CHECK(result.guards_intact());
  return scored;
}

std::vector<std::int32_t> every_token(std::int64_t rows, std::int64_t vocabulary) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < rows * vocabulary; ++i) {
    tokens.push_back(static_cast<std::int32_t>(i % vocabulary));
  }
  return tokens;
}

/// Values of all tokens that are farther from the reference than promised.
int mistakes(const RowBatch& batch, const std::vector<float>& values,
             const std::vector<std::int64_t>& counts) {
  int wrong = 0;
  for (std::int64_t i = 0; i < batch.rows(); ++i) {
    const auto expected = reference_log_probabilities(batch.reference_row(i), counts[i]);
    for (std::int64_t v = 0; v < batch.vocabulary; ++v) {
      wrong += is_close(expected, v, values[i * batch.vocabulary + v]) ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("log-probabilities are those of exact arithmetic within their bound", "",
                        Backends) {
  const std::vector<float> temperatures{1.1e-5f, 1e-3f, 0.3f, 1.0f, 1.5f, 1000.0f, 0.0f, 1e-5f};
  const auto rows = static_cast<std::int64_t>(temperatures.size());
  for (const std::int64_t vocabulary : {1, 33, 4096, 4097, 9001}) {
    for (const float center : {0.0f, 1e4f, -1e5f}) {
      RandomValues random(95);
      RowBatch batch;
      batch.vocabulary = vocabulary;
      batch.active = (vocabulary + 1) / 2;
      batch.temperature = temperatures;
      batch.logits =
          stored_values<typename TestType::logit>(random.logits(rows * vocabulary, 2.0f, center));
      batch.words = (vocabulary + 31) / 32;
      batch.bitmask = random.words(rows * batch.words, 2);
      for (std::int64_t i = 0; i < rows; ++i) batch.bitmask[i * batch.words] |= 1;
      const auto values = scores<TestType>(batch, every_token(rows, vocabulary)).values;
      CAPTURE(vocabulary, center);
      CHECK(mistakes(batch, values, std::vector<std::int64_t>(rows, -1)) == 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("after truncation the kept tokens are scored anew, the cut ones are -inf",
                        "", Backends) {
  for (const std::int64_t vocabulary : {1, 33, 4097, 9001}) {
    for (const bool masked : {false, true}) {
      auto batch = rows_to_truncate<typename TestType::logit>(vocabulary, masked);
      const auto tokens = every_token(5, vocabulary);
      for (const auto& counts : {std::vector<std::int64_t>{1, 2, 40, 3, 5},
                                 std::vector<std::int64_t>{vocabulary, 300, -1, 50, 0}}) {
        const auto values = scores<TestType>(batch, tokens, keep_first(batch, counts)).values;
        CAPTURE(vocabulary, masked);
        CHECK(mistakes(batch, values, counts) == 0);
      }
      batch.temperature = {0.0f, 1.0f, 1e-5f, 0.5f, 1.0f};
      const std::vector<std::int64_t> counts{1, -1, 2, -1, 2};
      const auto values = scores<TestType>(batch, tokens, keep_first(batch, counts)).values;
      CHECK(mistakes(batch, values, counts) == 0);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("tokens too rare for a float32 probability keep a finite value", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.logits.assign(5000, -1000.0f);
  batch.logits[4500] = 1000.0f;
  batch.temperature = {1.0f};
  const auto values = scores<TestType>(batch, {4500, 0, 4999}).values;
  CHECK(values == std::vector<float>{0.0f, -2000.0f, -2000.0f});
}

TEMPLATE_LIST_TEST_CASE("a certain token's log-probability is +0", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 1;
  batch.logits = {-0.0f, -0.0f, 3.0f, -5.0f};
  batch.temperature = {1.0f, 0.0f, 0.5f, 0.0f};
  for (const float value : scores<TestType>(batch, {0, 0, 0, 0}).values) {
    CHECK(std::bit_cast<std::uint32_t>(value) == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("greedy maxima have -log k, the others -inf", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 9000;
  batch.logits.assign(9000, 1.0f);
  batch.temperature = {1e-5f};
  for (const std::int64_t v : {17, 4095, 4096, 8999}) batch.logits[v] = 2.0f;
  const auto values = scores<TestType>(batch, {17, 4095, 4096, 8999, 0, 8998}).values;
  for (int i = 0; i < 4; ++i) CHECK(std::fabs(values[i] + std::log(4.0f)) <= 0x1p-22f);
  CHECK(values[4] == -infinity);
  CHECK(values[5] == -infinity);
}

TEMPLATE_LIST_TEST_CASE("ids outside the vocabulary are -inf and read nothing", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.active = 4900;
  batch.logits.assign(5000, 0.0f);
  batch.row_index.assign(6, 0);
  const std::vector<std::int32_t> tokens{
      0, 4899, -1, -1, 4900, 4999, 5000, 3, -2, 2147483647, -2147483647 - 1, 8191};
  const auto scored = scores<TestType>(batch, tokens);
  const float uniform = scored.values[0];
  CHECK(std::fabs(uniform + std::log(4900.0f)) <= 0x1p-20f);
  CHECK(scored.values == std::vector<float>{uniform, uniform, -infinity, -infinity, -infinity,
                                            -infinity, -infinity, uniform, -infinity, -infinity,
                                            -infinity, -infinity});
  const std::int32_t bad = RowStatus::invalid_draft;
  CHECK(scored.status == std::vector<std::int32_t>{0, 0, 0, bad, bad, bad});
}

TEMPLATE_LIST_TEST_CASE("every token of an unusable row is -inf", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 3;
  batch.temperature = {1.0f, 1.0f, 1.0f, -1.0f, 1.0f};
  batch.logits = {std::numeric_limits<float>::quiet_NaN(),
                  0.0f,
                  0.0f,  //
                  infinity,
                  0.0f,
                  0.0f,  //
                  -infinity,
                  -infinity,
                  -infinity,  //
                  0.0f,
                  0.0f,
                  0.0f,  //
                  1.0f,
                  -infinity,
                  -infinity};
  const auto scored = scores<TestType>(batch, every_token(5, 3));
  for (std::size_t i = 0; i < 15; ++i) CHECK(scored.values[i] == (i == 12 ? 0.0f : -infinity));
  CHECK(scored.status == std::vector<std::int32_t>{1, 2, 4, 128, 0});
}

TEMPLATE_LIST_TEST_CASE("a difference of logits beyond float32 is -inf", "", ExecutionSpaces) {
  RowBatch batch;
  batch.vocabulary = 2;
  batch.logits = {3e38f, -3e38f};
  using Float = tokkos::test::Backend<TestType, float>;
  CHECK(scores<Float>(batch, {0, 1}).values == std::vector<float>{0.0f, -infinity});
}

TEMPLATE_LIST_TEST_CASE("a prompt is scored in two calls that write nothing of a row's size", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  const auto n = static_cast<std::int64_t>(space.concurrency() < 64 ? 4 * space.concurrency() : 8);
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.logits = stored_values<typename TestType::logit>(RandomValues(96).logits(n * 5000));
  RandomValues random(97);
  std::vector<std::int32_t> next;
  for (std::int64_t i = 0; i < n; ++i)
    next.push_back(static_cast<std::int32_t>(random.below(5000)));
  const auto expected = scores<TestType>(batch, next).values;
  const DeviceRows<TestType> device(batch);
  const auto tokens = on_device<Memory>(next);
  const Kokkos::View<float*, Memory> result("result", n);
  const KokkosEvents events;
  tokkos::measure(space, device.rows, device.measures, device.status);
  const auto measured = events.launches().size();
  tokkos::log_probabilities(space, device.rows, device.measures, tokens, result);
  space.fence("tokkos::test::scores");
  CHECK(on_host(result) == expected);
  CHECK(events.launches().size() == measured + 1);
  CHECK(events.launches().back() == "tokkos::log_probabilities::tokens");
  if (space.concurrency() < 64) CHECK(measured == 1);
}

TEMPLATE_LIST_TEST_CASE("log-probabilities are the same bits alone and anywhere in a batch", "",
                        Backends) {
  const auto batch = rows_to_truncate<typename TestType::logit>(4500, true);
  const auto kept = keep_first(batch, {40, -1, 300, 6, 1});
  const auto expected = scores<TestType>(batch, every_token(5, 4500), kept).values;
  for (const auto& order : row_orders) {
    const auto tokens = every_token(static_cast<std::int64_t>(order.size()), 4500);
    const auto scored =
        scores<TestType>(rows_listed(batch, order), tokens, rows_listed(kept, order));
    CHECK((scored.values == rows_listed(expected, order, 4500)));
  }
}

TEMPLATE_LIST_TEST_CASE("log_probabilities names an array that does not fit and writes nothing", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  const auto batch = rows_to_truncate<typename TestType::logit>(33, false);
  const DeviceRows<TestType> device(batch);
  const DeviceCuts<Memory> four(keep_first(batch, {1, 1, 1, 1}));
  const Kokkos::View<std::int32_t*, Memory> tokens("tokens", 5), fewer("fewer", 4);
  const Kokkos::View<float*, Memory> result("result", 5), shorter("shorter", 4);
  Kokkos::deep_copy(result, -7.0f);
  tokkos::measure(space, device.rows, device.measures);
  const auto field_of = [&](const auto& ids, const auto& out, const tokkos::RowCuts<Memory>& cuts,
                            const Kokkos::View<std::int32_t*, Memory>& status) {
    const auto error = thrown_by([&] {
      tokkos::log_probabilities(space, device.rows, device.measures, ids, out, cuts, status);
    });
    return error ? error->field() : std::string("none");
  };
  CHECK(field_of(fewer, result, {}, {}).find("tokens") == 0);
  CHECK(field_of(tokens, shorter, {}, {}).find("result") == 0);
  CHECK(field_of(tokens, result, four.cuts(), {}).find("cuts") == 0);
  CHECK(field_of(tokens, result, {}, fewer).find("row_status") == 0);
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> wide("wide", 5, 2);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> narrow("narrow", 5, 1);
  CHECK(field_of(wide, narrow, {}, {}).find("result") == 0);
  CHECK(on_host(result) == std::vector<float>(5, -7.0f));
}
