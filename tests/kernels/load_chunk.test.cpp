// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/load_chunk.hpp"

#include <tokkos/numerics/bfloat16.hpp>
#include <tokkos/numerics/float16.hpp>
#include <tokkos/numerics/stored_logit.hpp>

#include "kernels/chunk_kernel.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tokkos::test {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A chunk with odd values in it, whose first logit may stand `shift` places behind an aligned one.
template <class Logit>
struct Chunk {
  std::vector<Logit> logits;
  std::vector<std::int32_t> words;
  int shift;

  Chunk(std::uint64_t seed, int odd_values, int shift_by) : shift(shift_by) {
    RandomValues random(seed);
    logits.resize(chunk_size + 8);
    const std::vector<float> values = random.logits(chunk_size + 8);
    std::transform(values.begin(), values.end(), logits.begin(),
                   [](float x) { return narrow<Logit>(x); });
    constexpr float odd[] = {-infinity, -FLT_MAX, -0.0f, infinity, NAN};
    for (int i = 0; i < odd_values; ++i) {
      logits[static_cast<std::size_t>(random.below(chunk_size))] =
          narrow<Logit>(odd[random.below(odd_values > 20 ? 5 : 3)]);
    }
    words = random.words(chunk_size / 32);
    for (int i = 0; i < 20; ++i) {
      words[static_cast<std::size_t>(random.below(chunk_size / 32))] = i % 2 == 0 ? 0 : -1;
    }
  }

  ChunkSource<Logit> source(bool masked, int size) const {
    return {logits.data() + shift, masked ? words.data() : nullptr, size, 0};
  }

  /// What semantics say of a token.
  float expected(bool masked, int size, int token) const {
    const bool allowed =
        !masked ||
        (static_cast<std::uint32_t>(words[static_cast<std::size_t>(token / 32)]) >> (token % 32) &
         1u) != 0;
    if (token >= size || !allowed) return -infinity;
    const float value = widen(logits[static_cast<std::size_t>(token + shift)]);
    return value == -FLT_MAX ? -infinity : value;
  }
};

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b)
                       : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

void check_range(const std::vector<float>& x, const LogitRange& range) {
  float maximum = -infinity;
  bool has_nan = false;
  for (const float value : x) {
    has_nan = has_nan || std::isnan(value);
    if (value > maximum) maximum = value;
  }
  CHECK(range.has_odd == has_nan);
  if (!has_nan) CHECK(range.maximum == maximum);
}

}  // namespace

TEMPLATE_TEST_CASE("every way to load a chunk gives the logits that semantics name", "", float,
                   bfloat16, float16) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Chunk<TestType> chunk(seed, seed % 3 == 0 ? 0 : (seed % 3 == 1 ? 12 : 40),
                                static_cast<int>(seed % 5));
    for (const bool masked : {false, true}) {
      for (const int size : {chunk_size, chunk_size - 1, 1280, 37, 3, 0}) {
        INFO("seed " << seed << ", masked " << masked << ", size " << size);
        const auto source = chunk.source(masked, size);
        std::vector<float> wanted(chunk_size);
        for (int j = 0; j < chunk_size; ++j) {
          wanted[static_cast<std::size_t>(j)] = chunk.expected(masked, size, j);
        }

        std::vector<float> x(chunk_size, 7.0f);
        fill_chunk(source, x.data());
        CHECK(std::equal(x.begin(), x.end(), wanted.begin(), same));
        check_range(wanted, range_of<chunk_size>(x.data()));

        int wrong = 0;
        constexpr int width = load_width<TestType>;
        for (int j = 0; j < chunk_size; j += width) {
          float loaded[width];
          fill_load(source, j, loaded);
          wrong += std::equal(loaded, loaded + width, wanted.begin() + j, same) ? 0 : 1;
        }
        CHECK(wrong == 0);

        if (!masked || size < chunk_size) continue;
        std::fill(x.begin(), x.end(), 7.0f);
        const LogitRange range = fill_masked_chunk(source.logits, source.mask_words, x.data());
        CHECK(std::equal(x.begin(), x.end(), wanted.begin(), same));
        check_range(wanted, range);
      }
    }
  }
}

TEST_CASE("groups weighed four at a time, as on a device, have the bits of many at a time") {
  RandomValues random(7);
  for (const float inverse : {0.5f, 1.0f, 10.0f}) {
    for (const bool greedy : {false, true}) {
      alignas(64) float x[chunk_size], by_four[chunk_size], by_many[chunk_size];
      const std::vector<float> values = random.logits(chunk_size);
      std::copy(values.begin(), values.end(), x);
      const float maximum = *std::max_element(values.begin(), values.end());
      std::int64_t sums[2] = {0, 0};
      for (int g = 0; g < groups_per_chunk; g += 4) {
        sums[0] += greedy ? weigh_groups<4, true>(x + g, by_four + g, maximum, inverse)
                          : weigh_groups<4, false>(x + g, by_four + g, maximum, inverse);
      }
      for (int g = 0; g < groups_per_chunk; g += 64) {
        sums[1] += greedy ? weigh_groups<64, true>(x + g, by_many + g, maximum, inverse)
                          : weigh_groups<64, false>(x + g, by_many + g, maximum, inverse);
      }
      CHECK(sums[0] == sums[1]);
      CHECK(std::equal(by_four, by_four + chunk_size, by_many, same));
    }
  }
}

}  // namespace tokkos::test
