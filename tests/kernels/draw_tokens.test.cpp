// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/kept_rows.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float last_uniform = 0x1.fffffep-1f;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Drawn {
  std::vector<std::int32_t> tokens;  ///< [n, d]
  std::vector<std::int32_t> status;
  std::vector<float> probabilities;  ///< [n, V], normalized after the draws
};

/// d draws of each row: uniforms [n, d]. Without `kept`, no cuts are given.
template <class Backend>
Drawn draws(const RowBatch& batch, const std::vector<float>& uniforms,
            const std::vector<KeptRow>& kept,
            tokkos::GreedyTies ties = tokkos::GreedyTies::uniform) {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const auto n = static_cast<std::size_t>(batch.rows());
  const std::size_t d = uniforms.size() / n;
  const DeviceRows<Backend> device(batch);
  const DeviceCuts<Memory> cuts(kept);
  const auto given = kept.empty() ? tokkos::RowCuts<Memory>{} : cuts.cuts();
  Guarded<float, Memory> u(n, d, 3, uniforms);
  Guarded<std::int32_t, Memory> tokens(n, d, 2, std::vector<std::int32_t>(n * d, -7));
  tokkos::measure(space, device.rows, device.measures, device.status);
  tokkos::draw_tokens(space, device.rows, device.measures, u.matrix(), tokens.matrix(), given,
                      device.status, ties);
  if (kept.empty()) {
    tokkos::normalize(space, device.rows, device.measures, device.probabilities);
  } else {
    tokkos::normalize_truncated(space, device.rows, device.measures, given, device.probabilities);
  }
  space.fence("tokkos::test::draws");
  RowResults results;
  device.read_probabilities(results);
  Drawn drawn{tokens.values(), on_host(device.status), results.probabilities};
  CHECK(tokens.guards_intact());
  return drawn;
}

/// Uniforms on a grid, at the ends, and around the ends of the row's intervals: 100 for any row.
std::vector<float> telling_uniforms(const KeptRow& row) {
  std::vector<float> uniforms{0.0f, last_uniform, FLT_TRUE_MIN, FLT_MIN, 0x1p-24f, 0.5f};
  const auto edges = row.edges();
  uniforms.insert(uniforms.end(), edges.begin(), edges.end());
  for (int i = 0; uniforms.size() < 100; ++i) {
    uniforms.push_back((static_cast<float>(i) + 0.5f) / 128.0f);
  }
  return uniforms;
}

std::vector<float> telling_uniforms(const std::vector<KeptRow>& rows) {
  std::vector<float> all;
  for (const auto& row : rows) {
    const auto uniforms = telling_uniforms(row);
    all.insert(all.end(), uniforms.begin(), uniforms.end());
  }
  return all;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a truncated draw gives the token whose exact interval holds the uniform",
                        "", Backends) {
  for (const std::int64_t vocabulary : {1, 31, 33, 4096, 4097, 20001}) {
    for (const bool masked : {false, true}) {
      const auto batch = rows_to_truncate<typename TestType::logit>(vocabulary, masked);
      for (const auto& counts : {std::vector<std::int64_t>{1, 2, 40, 3, 5},
                                 std::vector<std::int64_t>{vocabulary, 300, 1000, 50, 1}}) {
        const auto kept = keep_first(batch, counts);
        const auto uniforms = telling_uniforms(kept);
        const auto drawn = draws<TestType>(batch, uniforms, kept);
        int wrong = 0;
        int impossible = 0;
        for (std::size_t i = 0; i < uniforms.size(); ++i) {
          const auto row = i / 100;
          const auto token = drawn.tokens[i];
          wrong += token == kept[row].drawn(uniforms[i]) ? 0 : 1;
          impossible += token >= 0 && drawn.probabilities[row * vocabulary + token] > 0.0f ? 0 : 1;
        }
        CAPTURE(vocabulary, masked);
        CHECK(wrong == 0);
        CHECK(impossible == 0);
        CHECK(drawn.status == std::vector<std::int32_t>(5, 0));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("uniforms on a grid are shared as the masses are", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 10000;
  batch.logits.assign(10000, -3.0f);
  for (const std::int64_t v : {5, 4100, 9000, 9999}) batch.logits[v] = 2.0f;
  // Of eight kept tokens four weigh 1 and the lowest four of the rest exp(-5).
  const auto kept = keep_first(batch, {8});
  std::vector<float> uniforms;
  for (int i = 0; i < 4096; ++i) uniforms.push_back(static_cast<float>(i) / 4096.0f);
  std::vector<int> counts(10000);
  for (const auto token : draws<TestType>(batch, uniforms, kept).tokens) ++counts.at(token);
  // A share s of the mass holds floor(4096 s) or one more of the grid's points, whatever lies
  // before it.
  const double small = 4096.0 * 0.006737946999085467 / (4.0 + 4.0 * 0.006737946999085467);
  const double large = 1024.0 - small;
  for (std::int64_t v = 0; v < 10000; ++v) {
    const double share = batch.logits[v] == 2.0f ? large : (v < 4 ? small : 0.0);
    CAPTURE(v);
    if (share == 0.0) {
      if (counts[v] != 0) CHECK(counts[v] == 0);
      continue;
    }
    CHECK(counts[v] >= static_cast<int>(share));
    CHECK(counts[v] <= static_cast<int>(share) + 1);
  }
}

TEMPLATE_LIST_TEST_CASE("kept equal logits are drawn by floor(u k), at the ends of chunks too", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 20000;
  batch.logits.assign(20000, 1.5f);
  const auto kept = keep_first(batch, {16384});
  const auto tokens = draws<TestType>(batch, {0.25f, 0.5f, 0.75f, 0.9375f, last_uniform}, kept);
  CHECK(tokens.tokens == std::vector<std::int32_t>{4096, 8192, 12288, 15360, 16383});
}

TEMPLATE_LIST_TEST_CASE("rows that are not truncated draw the tokens of draw, in every column", "",
                        Backends) {
  auto batch = rows_to_truncate<typename TestType::logit>(9001, true);
  batch.temperature = {1.0f, 0.0f, 1e-5f, 0.7f, 0.5f};
  for (std::int64_t v = 0; v < 9001; v += 700) batch.logits[2 * 9001 + v] = 30.0f;
  const auto kept = keep_first(batch, {-1, 1, -1, 7, -1});
  const auto uniforms = RandomValues(92).uniforms(5 * 6);
  for (const auto ties : {tokkos::GreedyTies::uniform, tokkos::GreedyTies::lowest_id}) {
    const auto mixed = draws<TestType>(batch, uniforms, kept, ties).tokens;
    const auto plain = draws<TestType>(batch, uniforms, {}, ties).tokens;
    for (std::size_t j = 0; j < 6; ++j) {
      std::vector<float> column;
      for (std::size_t i = 0; i < 5; ++i) column.push_back(uniforms[6 * i + j]);
      const auto expected = verbs_of<TestType>(batch, column, {}, ties).tokens;
      for (const std::size_t i : {0, 1, 2, 4}) CHECK(mixed[6 * i + j] == expected[i]);
      for (std::size_t i = 0; i < 5; ++i) CHECK(plain[6 * i + j] == expected[i]);
      CHECK(mixed[6 * 3 + j] == kept[3].drawn(column[3]));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("several uniforms out of range are clamped, one NaN ends its row", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.logits.assign(5000, 0.0f);
  batch.row_index.assign(4, 0);
  const auto kept = keep_first(batch, {100, 100, -1, -1});
  const std::vector<float> uniforms{-1.0f, -infinity,    infinity, 1.0f,   // truncated
                                    0.5f,  not_a_number, 0.5f,     0.25f,  // truncated
                                    0.5f,  0.0f,         0.25f,    7.0f,   //
                                    0.5f,  0.5f,         0.5f,     not_a_number};
  const auto drawn = draws<TestType>(batch, uniforms, kept);
  CHECK(drawn.tokens == std::vector<std::int32_t>{0, 0, 99, 99, -1, -1, -1, -1,  //
                                                  2500, 0, 1250, 4999, -1, -1, -1, -1});
  const auto bad = static_cast<std::int32_t>(tokkos::RowStatus::invalid_parameter);
  CHECK(drawn.status == std::vector<std::int32_t>{0, bad, 0, bad});
  const auto zeros = [&](std::int64_t row) {
    const auto begin = drawn.probabilities.begin() + row * 5000;
    return std::count(begin, begin + 5000, 0.0f);
  };
  CHECK(zeros(0) == 4900);
  CHECK(zeros(1) == 5000);
  CHECK(zeros(2) == 0);
  CHECK(zeros(3) == 5000);
}

TEMPLATE_LIST_TEST_CASE("unusable rows draw -1, the others keep their tokens", "", Backends) {
  const auto good = rows_to_truncate<typename TestType::logit>(9001, true);
  auto kept = keep_first(good, {4, 4, 40, 4, -1});
  const auto uniforms = RandomValues(93).uniforms(5 * 3);
  const auto expected = draws<TestType>(good, uniforms, kept).tokens;
  auto bad = good;
  bad.logits[1 * 9001] = not_a_number;
  bad.temperature[4] = -1.0f;
  kept[3].count = 0;
  const auto tokens = draws<TestType>(bad, uniforms, kept).tokens;
  for (std::size_t i = 0; i < 15; ++i) {
    const bool usable = i / 3 == 0 || i / 3 == 2;
    CHECK(tokens[i] == (usable ? expected[i] : -1));
  }
}

TEMPLATE_LIST_TEST_CASE("a row draws the same tokens alone and anywhere in a batch", "", Backends) {
  const auto batch = rows_to_truncate<typename TestType::logit>(9001, true);
  const auto kept = keep_first(batch, {40, -1, 300, 6, 1});
  const auto uniforms = RandomValues(94).uniforms(5 * 4);
  const auto expected = draws<TestType>(batch, uniforms, kept).tokens;
  for (const auto& order : row_orders) {
    const auto drawn = draws<TestType>(rows_listed(batch, order), rows_listed(uniforms, order, 4),
                                       rows_listed(kept, order));
    CHECK(drawn.tokens == rows_listed(expected, order, 4));
  }
}

TEMPLATE_LIST_TEST_CASE("draw_tokens names an array that does not fit and writes nothing", "",
                        Backends) {
  using Memory = typename TestType::memory_space;
  using Tokens = Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory>;
  using Uniforms = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;
  const typename TestType::execution_space space;
  const auto batch = rows_to_truncate<typename TestType::logit>(33, false);
  const DeviceRows<TestType> device(batch);
  const DeviceCuts<Memory> four(keep_first(batch, {1, 1, 1, 1}));
  const Uniforms uniforms("uniforms", 5, 3);
  const Tokens tokens("tokens", 5, 3), fewer("fewer", 4, 3), wider("wider", 5, 4);
  const Kokkos::View<std::int32_t*, Memory> short_status("short", 4);
  Kokkos::deep_copy(tokens, -7);
  tokkos::measure(space, device.rows, device.measures);
  const auto field_of = [&](const Tokens& out, const tokkos::RowCuts<Memory>& cuts,
                            const Kokkos::View<std::int32_t*, Memory>& status) {
    const auto error = thrown_by([&] {
      tokkos::draw_tokens(space, device.rows, device.measures, uniforms, out, cuts, status);
    });
    return error ? error->field() : std::string("none");
  };
  CHECK(field_of(fewer, {}, {}).find("tokens") == 0);
  CHECK(field_of(wider, {}, {}).find("uniforms") == 0);
  CHECK(field_of(tokens, four.cuts(), {}).find("cuts") == 0);
  CHECK(field_of(tokens, {}, short_status).find("row_status") == 0);
  CHECK(on_host(tokens) == std::vector<std::int32_t>(15, -7));
  const Tokens none("none", 5, 0);
  const Uniforms no_uniforms("none", 5, 0);
  CHECK_NOTHROW(
      tokkos::draw_tokens(space, device.rows, device.measures, no_uniforms, none, {}, {}));
}
