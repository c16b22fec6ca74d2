// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/draw.hpp>

#include <tokkos/core/row_status.hpp>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"

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

constexpr float last_uniform = 0x1.fffffep-1f;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// The same row once for every uniform.
template <class Backend>
std::vector<std::int32_t> draws(RowBatch batch, const std::vector<float>& uniforms,
                                tokkos::GreedyTies ties = tokkos::GreedyTies::uniform) {
  batch.row_index.assign(uniforms.size(), 0);
  if (!batch.bitmask.empty()) batch.mask_index.assign(uniforms.size(), 0);
  return verbs_of<Backend>(batch, uniforms, {}, ties).tokens;
}

std::vector<float> spread_uniforms(int count) {
  std::vector<float> uniforms{0.0f, last_uniform, FLT_TRUE_MIN, FLT_MIN, 0x1p-24f, 0.5f};
  for (int i = 0; i < count; ++i) {
    uniforms.push_back((static_cast<float>(i) + 0.5f) / static_cast<float>(count));
  }
  return uniforms;
}

template <class Logit>
RowBatch random_row(std::int64_t vocabulary, float temperature, bool masked) {
  RandomValues random(static_cast<std::uint64_t>(vocabulary) + 40);
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.temperature = {temperature};
  batch.logits = stored_values<Logit>(random.logits(vocabulary));
  if (masked) {
    batch.words = (vocabulary + 31) / 32;
    batch.bitmask = random.words(batch.words, 3);
    batch.bitmask[0] |= 1;
    batch.active = (vocabulary + 1) / 2;
  }
  return batch;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the drawn token's share of the mass holds the uniform", "", Backends) {
  const auto uniforms = spread_uniforms(100);
  for (const std::int64_t vocabulary : {1, 31, 32, 33, 4096, 4097, 20001}) {
    for (const float temperature : {0.3f, 1.0f, 1000.0f}) {
      for (const bool masked : {false, true}) {
        const auto batch = random_row<typename TestType::logit>(vocabulary, temperature, masked);
        const auto row = batch.reference_row(0);
        const auto expected = reference_softmax(row);
        const auto tokens = draws<TestType>(batch, uniforms);
        const double tolerance = (6 * expected.entropy_sum + 30) * 0x1p-24;
        int wrong = 0;
        int forbidden = 0;
        for (std::size_t i = 0; i < uniforms.size(); ++i) {
          wrong += distance_from_share(expected, tokens[i], uniforms[i]) <= tolerance ? 0 : 1;
          forbidden += tokens[i] >= 0 && is_allowed(row, tokens[i]) ? 0 : 1;
        }
        CAPTURE(vocabulary, temperature, masked);
        CHECK(wrong == 0);
        CHECK(forbidden == 0);
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("equal logits are drawn exactly by floor(u k)", "", Backends) {
  for (const std::int64_t vocabulary : {1, 3, 33, 4095, 4096, 4097, 12289, 50257}) {
    RowBatch batch;
    batch.vocabulary = vocabulary;
    batch.temperature = {0.9f};
    batch.logits.assign(vocabulary, 1.5f);
    batch.words = (vocabulary + 31) / 32;
    batch.bitmask = RandomValues(50).words(batch.words, 2);
    batch.bitmask[0] |= 1;
    std::vector<std::int32_t> allowed;
    for (std::int64_t v = 0; v < vocabulary; ++v) {
      if (is_allowed(batch.reference_row(0), v)) allowed.push_back(static_cast<std::int32_t>(v));
    }
    auto uniforms = spread_uniforms(100);
    std::vector<std::int32_t> expected;
    for (const float u : uniforms) {
      // A multiple of 2^-149 times an integer below 2^16 is exact in long double.
      const auto at =
          std::floor(static_cast<long double>(u) * static_cast<long double>(allowed.size()));
      expected.push_back(allowed[static_cast<std::size_t>(at)]);
    }
    CAPTURE(vocabulary);
    CHECK(draws<TestType>(batch, uniforms) == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("the ends of the unit interval draw the first and the last token with mass",
                        "", Backends) {
  for (const std::int64_t vocabulary : {7, 4096, 9000}) {
    RowBatch batch;
    batch.vocabulary = vocabulary;
    batch.logits.assign(vocabulary, 0.0f);
    // exp(-1000) is 0: allowed, and never drawn
    batch.logits[0] = -1000.0f;
    batch.logits[1] = -1000.0f;
    batch.logits[vocabulary - 1] = -1000.0f;
    batch.logits[vocabulary - 2] = -std::numeric_limits<float>::infinity();
    const auto tokens = draws<TestType>(batch, {0.0f, FLT_TRUE_MIN, last_uniform});
    const auto last = static_cast<std::int32_t>(vocabulary - 3);
    CHECK(tokens == std::vector<std::int32_t>{2, 2, last});
  }
}

TEMPLATE_LIST_TEST_CASE("no uniform draws a forbidden token, wherever the mass lies", "",
                        Backends) {
  // Everything is forbidden but one token, which every uniform must draw.
  for (const std::int32_t only : {0, 1, 4095, 4096, 8191, 8192, 8999}) {
    RowBatch batch;
    batch.vocabulary = 9000;
    batch.logits.assign(9000, not_a_number);
    batch.logits[only] = -3.0f;
    batch.words = 282;
    batch.bitmask.assign(282, 0);
    batch.bitmask[only / 32] = static_cast<std::int32_t>(1u << (only % 32));
    for (const float temperature : {0.0f, 0.7f}) {
      batch.temperature = {temperature};
      const auto tokens = draws<TestType>(batch, {0.0f, 0.3f, 0.5f, last_uniform});
      CHECK(tokens == std::vector<std::int32_t>(4, only));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a greedy row draws among its ties by floor(u k), or the lowest", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 9000;
  batch.logits.assign(9000, 1.0f);
  batch.temperature = {1e-5f};
  const std::vector<std::int32_t> ties{17, 4095, 4096, 8999};
  for (const auto v : ties) batch.logits[v] = 2.0f;
  std::vector<std::int32_t> expected;
  const std::vector<float> uniforms{0.0f, 0.2499f, 0.25f, 0.4999f, 0.5f, 0.75f, last_uniform};
  for (const float u : uniforms)
    expected.push_back(ties[static_cast<std::size_t>(std::floor(u * 4))]);
  CHECK(draws<TestType>(batch, uniforms) == expected);
  CHECK(draws<TestType>(batch, uniforms, tokkos::GreedyTies::lowest_id) ==
        std::vector<std::int32_t>(uniforms.size(), 17));
}

TEMPLATE_LIST_TEST_CASE("zeros of either sign tie in a greedy row", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 4;
  batch.temperature = {0.0f};
  batch.logits = {-1.0f, -0.0f, 0.0f, -0.0f};
  CHECK(draws<TestType>(batch, {0.0f, 0.34f, 0.67f}) == std::vector<std::int32_t>{1, 2, 3});
  CHECK(verbs_of<TestType>(batch, {0.5f}).argmax == std::vector<std::int32_t>{1});
}

TEMPLATE_LIST_TEST_CASE("uniforms below 0 or from 1 on are clamped, NaN flags the row", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 100;
  batch.logits.assign(100, 0.0f);
  batch.row_index.assign(7, 0);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto results =
      verbs_of<TestType>(batch, {-1.0f, -infinity, 1.0f, 7.0f, infinity, not_a_number, 0.5f});
  CHECK(results.tokens == std::vector<std::int32_t>{0, 0, 99, 99, 99, -1, 50});
  CHECK(results.status ==
        std::vector<std::int32_t>{0, 0, 0, 0, 0, tokkos::RowStatus::invalid_parameter, 0});
}

TEMPLATE_LIST_TEST_CASE("a row whose uniform is NaN yields nothing after the draw", "", Backends) {
  using Memory = typename TestType::memory_space;
  const typename TestType::execution_space space;
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.logits.assign(5000, 0.0f);
  batch.row_index.assign(2, 0);
  const DeviceRows<TestType> data(batch);
  const auto uniforms = on_device<Memory>(std::vector<float>{not_a_number, 0.5f});
  Guarded<std::int32_t, Memory> tokens(2);
  Guarded<float, Memory> sums(2);
  tokkos::measure(space, data.rows, data.measures, data.status);
  tokkos::draw(space, data.rows, data.measures, uniforms, tokens.vector(), data.status);
  tokkos::log_sum_exp(space, data.rows, data.measures, sums.vector());
  tokkos::normalize(space, data.rows, data.measures, data.probabilities);
  space.fence("tokkos::test::draw");
  CHECK(tokens.values() == std::vector<std::int32_t>{-1, 2500});
  CHECK(sums.values()[0] == -std::numeric_limits<float>::infinity());
  CHECK(sums.values()[1] > 8.0f);
  RowResults results;
  data.read_probabilities(results);
  const auto& p = results.probabilities;
  CHECK(std::count(p.begin(), p.begin() + 5000, 0.0f) == 5000);
  CHECK(std::count(p.begin() + 5000, p.end(), 0.0f) == 0);
}

TEMPLATE_LIST_TEST_CASE("argmax is the lowest id of the maximum at any temperature", "", Backends) {
  RandomValues random(41);
  RowBatch batch;
  batch.vocabulary = 9000;
  batch.active = 8900;
  batch.temperature = {0.0f, 0.5f, 1.0f, 1000.0f};
  batch.logits = stored_values<typename TestType::logit>(random.logits(4 * 9000));
  for (std::size_t v = 0; v < batch.logits.size(); ++v) {
    batch.logits[v] = std::min(batch.logits[v], 9.0f);  // many ties
  }
  batch.logits[8950] = 50.0f;  // past the active vocabulary
  batch.words = 282;
  batch.bitmask = random.words(4 * 282, 2);
  std::vector<std::int32_t> expected;
  for (std::int64_t i = 0; i < 4; ++i) {
    expected.push_back(static_cast<std::int32_t>(reference_softmax(batch.reference_row(i)).argmax));
  }
  CHECK(verbs_of<TestType>(batch, std::vector<float>(4, 0.5f)).argmax == expected);
}

TEMPLATE_LIST_TEST_CASE("the token is the same before and after what else is asked", "", Backends) {
  using Memory = typename TestType::memory_space;
  const auto batch = random_row<typename TestType::logit>(9000, 1.0f, true);
  const std::vector<float> uniforms{0.37f};
  const auto expected = verbs_of<TestType>(batch, uniforms).tokens;
  const typename TestType::execution_space space;
  const DeviceRows<TestType> device(batch);
  const auto u = on_device<Memory>(uniforms);
  const Kokkos::View<std::int32_t*, Memory> tokens("tokens", 1);
  tokkos::softmax(space, device.rows, device.measures, device.probabilities, device.status);
  tokkos::draw(space, device.rows, device.measures, u, tokens);
  space.fence("tokkos::test::draw");
  CHECK(on_host(tokens) == expected);
}

TEMPLATE_LIST_TEST_CASE("draw and argmax name an array that does not fit", "", Backends) {
  using Memory = typename TestType::memory_space;
  RowBatch batch;
  batch.vocabulary = 10;
  batch.logits.assign(30, 1.0f);
  const typename TestType::execution_space space;
  const DeviceRows<TestType> device(batch);
  const Kokkos::View<float*, Memory> three("three", 3), two("two", 2);
  const Kokkos::View<std::int32_t*, Memory> tokens("tokens", 3), short_tokens("short", 2);
  Kokkos::deep_copy(tokens, -7);
  tokkos::measure(space, device.rows, device.measures);
  const auto field_of = [&](const auto& call) {
    const auto error = thrown_by(call);
    return error ? error->field() : std::string("none");
  };
  using namespace tokkos;
  CHECK(field_of([&] {
          draw(space, device.rows, device.measures, two, tokens);
        }).find("uniforms") == 0);
  CHECK(field_of([&] {
          draw(space, device.rows, device.measures, three, short_tokens);
        }).find("tokens") == 0);
  CHECK(field_of([&] {
          draw(space, device.rows, device.measures, three, tokens, short_tokens);
        }).find("row_status") == 0);
  CHECK(field_of([&] {
          argmax(space, device.rows, device.measures, short_tokens);
        }).find("tokens") == 0);
  space.fence("tokkos::test::draw");
  CHECK(on_host(tokens) == std::vector<std::int32_t>(3, -7));
}
