// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/numerics/chunk.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<tokkos::ChunkPair> random_pairs(int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<tokkos::ChunkPair> pairs(count);
  for (auto& pair : pairs) {
    if (random() % 8 == 0) continue;  // nothing allowed in that chunk
    pair.maximum = static_cast<float>(static_cast<double>(random() % 4000) * 0.01 - 20.0);
    pair.sum = static_cast<std::int64_t>(tokkos::grid_one + random() % (std::uint64_t{1} << 55));
  }
  return pairs;
}

/// The total by `threads` threads of which each takes every threads-th pair.
tokkos::RowTotal merged(const std::vector<tokkos::ChunkPair>& pairs,
                        tokkos::InverseTemperature inverse, std::size_t threads = 1) {
  std::vector<tokkos::PairMerge> parts(threads);
  for (std::size_t c = 0; c < pairs.size(); ++c) parts[c % threads].find(pairs[c]);
  tokkos::PairMerge whole;
  for (const auto& part : parts) {
    whole.total.maximum = std::max(whole.total.maximum, part.total.maximum);
    whole.status |= part.status;
  }
  CHECK(whole.row_status() == 0);
  parts.assign(threads, whole);
  for (std::size_t c = 0; c < pairs.size(); ++c) parts[c % threads].add(pairs[c], inverse);
  for (const auto& part : parts) whole.total.mass += part.total.mass;
  return whole.total;
}

}  // namespace

TEST_CASE("a row has one chunk for every 4096 logits begun") {
  CHECK(tokkos::chunk_size == 4096);
  CHECK(tokkos::groups_per_chunk * 4 == tokkos::chunk_size);
  CHECK(tokkos::chunk_count(1) == 1);
  CHECK(tokkos::chunk_count(4095) == 1);
  CHECK(tokkos::chunk_count(4096) == 1);
  CHECK(tokkos::chunk_count(4097) == 2);
  CHECK(tokkos::chunk_count(8192) == 2);
  CHECK(tokkos::chunk_count(8193) == 3);
  CHECK(tokkos::chunk_count(524287) == 128);
  CHECK(tokkos::chunk_count(2147483647) == 524288);
}

TEST_CASE("a chunk with nothing allowed has no share and is not computed with") {
  const tokkos::ChunkPair nothing;
  CHECK(nothing.maximum == -infinity);
  CHECK(nothing.sum == 0);
  for (const float row_maximum : {-infinity, 0.0f, 1e30f}) {
    const auto share = tokkos::ChunkShare::of(nothing, row_maximum, {1.0f, false});
    CHECK(share.factor == 0.0f);
    CHECK(share.mass == 0);
  }
}

TEST_CASE("an unusable chunk has no share") {
  const auto share = tokkos::ChunkShare::of({2.0f, -5}, 2.0f, {1.0f, false});
  CHECK(share.factor == 0.0f);
  CHECK(share.mass == 0);
}

TEST_CASE("the chunk of the row's maximum keeps its sum") {
  for (const std::int64_t sum :
       {std::int64_t{1}, tokkos::grid_one, std::int64_t{1} << 53, std::int64_t{1} << 56}) {
    const auto share = tokkos::ChunkShare::of({-3.5f, sum}, -3.5f, {0.7f, false});
    CHECK(share.factor == 1.0f);
    CHECK(share.mass == sum);
  }
}

TEST_CASE("a chunk's mass is its sum times its factor, rounded once in double and to even") {
  std::mt19937_64 random(2);
  for (const auto& pair : random_pairs(2000, 9)) {
    if (pair.sum == 0) continue;
    const float row_maximum = pair.maximum + static_cast<float>(random() % 1000) * 0.03f;
    const float inverse = 0.25f + static_cast<float>(random() % 100) * 0.01f;
    const auto share = tokkos::ChunkShare::of(pair, row_maximum, {inverse, false});
    const float z = (pair.maximum - row_maximum) * inverse;
    CHECK(std::fabs(share.factor - std::exp(static_cast<double>(z))) <=
          1.1 * 0x1p-24 * 2 * share.factor);
    const double product = static_cast<double>(pair.sum) * static_cast<double>(share.factor);
    CHECK(static_cast<double>(share.mass) == std::nearbyint(product));
  }
}

TEST_CASE("a greedy row counts only the chunks that reach its maximum") {
  const tokkos::InverseTemperature greedy{0.0f, true};
  CHECK(tokkos::ChunkShare::of({5.0f, 3 * tokkos::grid_one}, 5.0f, greedy).mass ==
        3 * tokkos::grid_one);
  CHECK(tokkos::ChunkShare::of({4.999f, tokkos::grid_one}, 5.0f, greedy).mass == 0);
  CHECK(greedy.weight(5.0f, 5.0f) == 1.0f);
  CHECK(greedy.weight(-0.0f, 0.0f) == 1.0f);
  CHECK(greedy.weight(4.999f, 5.0f) == 0.0f);
}

TEST_CASE("a weight is 1 at the maximum and 0 far below it") {
  for (const float inverse : {0.001f, 1.0f, 90909.0f}) {
    const tokkos::InverseTemperature scale{inverse, false};
    CHECK(scale.weight(7.25f, 7.25f) == 1.0f);
    CHECK(scale.weight(-2e38f, 3e38f) == 0.0f);  // their difference overflows
  }
}

TEST_CASE("a row in which every chunk is empty, or one is unusable, is not summed") {
  tokkos::PairMerge nothing;
  CHECK(nothing.row_status() == 4);
  for (int i = 0; i < 3; ++i) nothing.find({});
  CHECK(nothing.row_status() == 4);
  nothing.find({-infinity, -1});
  CHECK(nothing.row_status() == 1);
  nothing.find({2.0f, 1});
  nothing.find({-infinity, -2});
  CHECK(nothing.row_status() == 3);
}

TEST_CASE("pairs have the same total in every order, shared by any number of threads") {
  std::mt19937_64 random(10);
  for (const int count : {1, 2, 3, 64, 128}) {
    auto pairs = random_pairs(count, 20 + count);
    const tokkos::InverseTemperature inverse{1.0f / 0.7f, false};
    const auto expected = merged(pairs, inverse);
    for (int i = 0; i < 10; ++i) {
      std::shuffle(pairs.begin(), pairs.end(), random);
      const auto total = merged(pairs, inverse, 1 + static_cast<std::size_t>(i));
      CHECK(total.maximum == expected.maximum);
      CHECK(total.mass == expected.mass);
    }
  }
}

TEST_CASE("the merged mass is that of exact arithmetic within its rounding") {
  const auto pairs = random_pairs(128, 77);
  const float temperature = 1.3f;
  const float inverse = 1.0f / temperature;
  const auto total = merged(pairs, {inverse, false});
  double exact = 0.0;
  for (const auto& pair : pairs) {
    if (pair.sum == 0) continue;
    exact += static_cast<double>(pair.sum) *
             std::exp((static_cast<double>(pair.maximum) - total.maximum) /
                      static_cast<double>(temperature));
  }
  CHECK(std::fabs(static_cast<double>(total.mass) - exact) <= exact * (3 * 40 + 14) * 0x1p-24);
}

TEST_CASE("the largest row's mass fits into 63 bits") {
  const std::vector<tokkos::ChunkPair> pairs(128, {0.0f, std::int64_t{1} << 56});
  std::vector<tokkos::ChunkPair> row(pairs);
  row.back().sum = std::int64_t{4095} << 44;  // active vocabulary 2^19 - 1
  const auto total = merged(row, {1.0f, false});
  CHECK(total.mass == std::int64_t{524287} << 44);
}
