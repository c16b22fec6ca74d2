// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/kept_rows.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Listed {
  std::vector<std::int32_t> tokens;  ///< [n, N]
  std::vector<float> values;         ///< [n, N]
  std::vector<float> given;          ///< log_probabilities of the listed tokens
};

/// The top `width` of each row. Without `kept`, no cuts are given.
template <class Backend>
Listed top(const RowBatch& batch, std::size_t width, const std::vector<KeptRow>& kept = {},
           const std::vector<std::int32_t>& counts = {}) {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const auto n = static_cast<std::size_t>(batch.rows());
  const DeviceRows<Backend> device(batch);
  const DeviceCuts<Memory> cuts(kept);
  const auto given_cuts = kept.empty() ? tokkos::RowCuts<Memory>{} : cuts.cuts();
  Guarded<std::int32_t, Memory> tokens(n, width, 3, std::vector<std::int32_t>(n * width, -7));
  Guarded<float, Memory> values(n, width, 2, std::vector<float>(n * width, -7.0f));
  Guarded<float, Memory> given(n, width, 0, {});
  tokkos::measure(space, device.rows, device.measures);
  tokkos::top_log_probabilities(space, device.rows, device.measures, tokens.matrix(),
                                values.matrix(), given_cuts, on_device<Memory>(counts));
  tokkos::log_probabilities(space, device.rows, device.measures, tokens.matrix(), given.matrix(),
                            given_cuts);
  space.fence("tokkos::test::top");
  Listed listed{tokens.values(), values.values(), given.values()};
  CHECK((tokens.guards_intact() && values.guards_intact()));
  return listed;
}

/// The first tokens of a row in the contract's order; -1 where it has no more.
std::vector<std::int32_t> expected_tokens(const RowBatch& batch, std::int64_t row,
                                          std::size_t width, std::int64_t kept = -1,
                                          std::int64_t count = 1000) {
  auto tokens = ordered_tokens(batch.reference_row(row));
  const auto most = static_cast<std::size_t>(std::min(kept < 0 ? count : kept, count));
  if (tokens.size() > most) tokens.resize(most);
  std::vector<std::int32_t> result(tokens.begin(), tokens.end());
  result.resize(width, -1);
  return result;
}

template <class T>
std::vector<T> row_of(const std::vector<T>& values, std::int64_t row, std::size_t width) {
  const auto begin = values.begin() + row * static_cast<std::int64_t>(width);
  return {begin, begin + static_cast<std::int64_t>(width)};
}

/// Whether every row lists what the reference does, with the values of log_probabilities.
template <class Backend>
void check_top(const RowBatch& batch, std::size_t width) {
  const auto listed = top<Backend>(batch, width);
  for (std::int64_t i = 0; i < batch.rows(); ++i) {
    CAPTURE(i, width, batch.vocabulary);
    CHECK((row_of(listed.tokens, i, width) == expected_tokens(batch, i, width)));
  }
  CHECK((listed.values == listed.given));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the top of a row is what sorting it gives", "", Backends) {
  for (const std::int64_t vocabulary : {1, 5, 127, 4096, 4097, 20001}) {
    for (const bool masked : {false, true}) {
      const auto batch = rows_to_truncate<typename TestType::logit>(vocabulary, masked);
      for (const std::size_t width : {1, 20, 128}) check_top<TestType>(batch, width);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("equal logits are listed by id, zeros of either sign among them", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 20001;
  batch.logits.assign(3 * 20001, 0.0f);
  for (std::int64_t v = 0; v < 20001; ++v) {
    if (v % 3 != 0) batch.logits[v] = -0.0f;                        // row 0: zeros only
    batch.logits[20001 + v] = v % 150 == 149 ? 2.0f : -1.0f;        // row 1: 133 maxima
    batch.logits[2 * 20001 + v] = v % 2000 == 1999 ? 2.0f : -3.0f;  // row 2: 10 maxima
  }
  for (const std::size_t width : {1, 9, 10, 11, 127, 128}) check_top<TestType>(batch, width);
}

TEMPLATE_LIST_TEST_CASE("the top is found wherever it lies and however far logits spread", "",
                        Backends) {
  using Logit = typename TestType::logit;
  const float large = std::same_as<Logit, tokkos::float16> ? 6e4f : 3e38f;
  for (const std::int64_t vocabulary : {511, 512, 513, 9000}) {
    RowBatch batch;
    batch.vocabulary = vocabulary;
    const auto end = static_cast<float>(vocabulary);
    for (std::int64_t v = 0; v < vocabulary; ++v) {
      batch.logits.push_back(static_cast<float>(v) / 128);
    }
    for (std::int64_t v = 0; v < vocabulary; ++v) {
      batch.logits.push_back(static_cast<float>(-v) / 128);
    }
    for (std::int64_t v = 0; v < vocabulary; ++v) {
      batch.logits.push_back(large * (2 * static_cast<float>(v) / end - 1));
    }
    for (std::int64_t v = 0; v < vocabulary; ++v) {
      batch.logits.push_back(v == vocabulary / 2 ? large : -large);
    }
    batch.logits = stored_values<Logit>(batch.logits);
    for (const std::size_t width : {5, 128}) check_top<TestType>(batch, width);
  }
}

TEMPLATE_LIST_TEST_CASE("each row lists as many as it asks for", "", Backends) {
  const auto batch = rows_to_truncate<typename TestType::logit>(9001, true);
  const std::vector<std::int32_t> counts{3, 0, 10, 1000, -5};
  const auto listed = top<TestType>(batch, 10, {}, counts);
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto count = std::clamp(counts[i], 0, 10);
    CHECK(row_of(listed.tokens, i, 10) == expected_tokens(batch, i, 10, -1, count));
  }
  CHECK(listed.values == listed.given);
}

TEMPLATE_LIST_TEST_CASE("only what truncation keeps is listed", "", Backends) {
  for (const bool masked : {false, true}) {
    const auto batch = rows_to_truncate<typename TestType::logit>(9001, masked);
    for (const auto& kept : {std::vector<std::int64_t>{1, 2, 40, 3, 5},
                             std::vector<std::int64_t>{9001, 300, -1, 1000, 0}}) {
      const auto listed = top<TestType>(batch, 20, keep_first(batch, kept));
      for (std::int64_t i = 0; i < 5; ++i) {
        CHECK(row_of(listed.tokens, i, 20) == expected_tokens(batch, i, 20, kept[i]));
      }
      CHECK(listed.values == listed.given);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a greedy row lists its maxima with -log k, the rest with -inf", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.logits.assign(5000, 1.0f);
  batch.temperature = {0.0f};
  for (const std::int64_t v : {4999, 17}) batch.logits[v] = 2.0f;
  const auto listed = top<TestType>(batch, 4, keep_first(batch, {-1}));
  CHECK(listed.tokens == std::vector<std::int32_t>{17, 4999, 0, 1});
  const float minus_log_2 = listed.values[0];
  CHECK(std::fabs(minus_log_2 + std::log(2.0f)) <= 0x1p-23f);
  CHECK(listed.values == std::vector<float>{minus_log_2, minus_log_2, -infinity, -infinity});
}

TEMPLATE_LIST_TEST_CASE("an unusable row lists nothing, the others keep every bit", "", Backends) {
  const auto good = rows_to_truncate<typename TestType::logit>(9001, true);
  auto bad = good;
  bad.logits[1 * 9001] = std::numeric_limits<float>::quiet_NaN();
  bad.temperature[4] = -1.0f;
  const auto expected = top<TestType>(good, 20);
  const auto listed = top<TestType>(bad, 20);
  for (const std::int64_t i : {0, 2, 3}) {
    CHECK(row_of(listed.tokens, i, 20) == row_of(expected.tokens, i, 20));
    CHECK(row_of(listed.values, i, 20) == row_of(expected.values, i, 20));
  }
  for (const std::int64_t i : {1, 4}) {
    CHECK(row_of(listed.tokens, i, 20) == std::vector<std::int32_t>(20, -1));
    CHECK(row_of(listed.values, i, 20) == std::vector<float>(20, -infinity));
  }
}

TEMPLATE_LIST_TEST_CASE("a row's top is the same alone and anywhere in a batch", "", Backends) {
  const auto batch = rows_to_truncate<typename TestType::logit>(9001, false);
  const auto expected = top<TestType>(batch, 50);
  for (const auto& order : row_orders) {
    const auto results = top<TestType>(rows_listed(batch, order), 50);
    CHECK(results.tokens == rows_listed(expected.tokens, order, 50));
    CHECK(results.values == rows_listed(expected.values, order, 50));
  }
}

TEMPLATE_LIST_TEST_CASE("top_log_probabilities names an array that does not fit", "", Backends) {
  using Memory = typename TestType::memory_space;
  using Tokens = Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory>;
  using Values = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
  const typename TestType::execution_space space;
  const auto batch = rows_to_truncate<typename TestType::logit>(33, false);
  const DeviceRows<TestType> device(batch);
  const DeviceCuts<Memory> four(keep_first(batch, {1, 1, 1, 1}));
  const Kokkos::View<std::int32_t*, Memory> fewer_counts("counts", 4);
  const Tokens tokens("tokens", 5, 3);
  const Values values("values", 5, 3);
  Kokkos::deep_copy(tokens, -7);
  tokkos::measure(space, device.rows, device.measures);
  const auto field_of = [&](const Tokens& ids, const Values& out,
                            const tokkos::RowCuts<Memory>& cuts,
                            const Kokkos::View<std::int32_t*, Memory>& counts) {
    const auto error = thrown_by([&] {
      tokkos::top_log_probabilities(space, device.rows, device.measures, ids, out, cuts, counts);
    });
    return error ? error->field() : std::string("none");
  };
  CHECK(field_of(Tokens("fewer", 4, 3), values, {}, {}).find("tokens") == 0);
  CHECK(field_of(tokens, Values("narrow", 5, 2), {}, {}).find("result") == 0);
  CHECK(field_of(Tokens("wide", 5, 129), Values("wide", 5, 129), {}, {}) == "tokens.extent");
  CHECK(field_of(tokens, values, four.cuts(), {}).find("cuts") == 0);
  CHECK(field_of(tokens, values, {}, fewer_counts).find("counts") == 0);
  CHECK(on_host(tokens) == std::vector<std::int32_t>(15, -7));
  CHECK(field_of(Tokens("none", 5, 0), Values("none", 5, 0), {}, {}) == "none");
}
