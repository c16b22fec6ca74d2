// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/sample_from_probabilities.hpp>

#include <tokkos/core/row_status.hpp>

#include "backends.hpp"
#include "kernels/logit_block.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr float last_uniform = 0x1.fffffep-1f;

struct Sampled {
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> status;
};

template <class Space>
Sampled sample(const std::vector<float>& probabilities, std::int64_t vocabulary,
               const std::vector<float>& uniforms) {
  using Memory = typename Space::memory_space;
  const Space space;
  const auto rows = on_device<Memory>(probabilities, vocabulary, 3, 0.5f);
  const auto u = on_device<Memory>(uniforms);
  const Kokkos::View<std::int32_t*, Memory> tokens("tokens", uniforms.size());
  const Kokkos::View<std::int32_t*, Memory> status("status", uniforms.size());
  Kokkos::deep_copy(tokens, -7);
  tokkos::sample_from_probabilities(space, without_padding<const float>(rows, vocabulary), u,
                                    tokens, status);
  space.fence("tokkos::test::sample");
  return {on_host(tokens), on_host(status)};
}

/// The token by the contract: masses RNE(p 2^44), the first inclusive prefix above floor(u sum).
/// Products of a 24-bit and a 64-bit integer are exact in 128 bits.
std::int32_t exact_token(const float* p, std::int64_t vocabulary, float u) {
  __extension__ using int128 = __int128;
  std::int64_t sum = 0;
  const auto mass = [&](std::int64_t v) {
    return std::llrint(std::ldexp(static_cast<double>(p[v]), 44));  // to nearest, ties to even
  };
  for (std::int64_t v = 0; v < vocabulary; ++v) sum += mass(v);
  const auto numerator = static_cast<int128>(std::ldexp(static_cast<double>(u), 24)) * sum;
  const auto t = static_cast<std::int64_t>(numerator >> 24);
  std::int64_t prefix = 0;
  for (std::int64_t v = 0; v < vocabulary; ++v) {
    prefix += mass(v);
    if (prefix > t) return static_cast<std::int32_t>(v);
  }
  return -1;
}

std::vector<float> random_probabilities(RandomValues& random, std::int64_t vocabulary) {
  std::vector<double> weights;
  double sum = 0.0;
  for (const float x : random.logits(vocabulary, 3.0f)) {
    weights.push_back(random.below(5) == 0 ? 0.0 : std::exp(static_cast<double>(x)));
    sum += weights.back();
  }
  if (sum == 0.0) weights[0] = sum = 1.0;
  std::vector<float> p;
  for (const double w : weights) p.push_back(static_cast<float>(w / sum));
  return p;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a token is drawn from given probabilities by exact prefix sums", "",
                        ExecutionSpaces) {
  RandomValues random(61);
  for (const std::int64_t vocabulary : {1, 2, 31, 33, 4095, 4096, 4097, 20001}) {
    std::vector<float> probabilities;
    std::vector<float> uniforms{0.0f, last_uniform, 0x1p-24f, 0.5f, 0.25f};
    while (uniforms.size() < 40) uniforms.push_back(random.uniform());
    std::vector<std::int32_t> expected;
    for (const float u : uniforms) {
      const auto row = random_probabilities(random, vocabulary);
      probabilities.insert(probabilities.end(), row.begin(), row.end());
      expected.push_back(exact_token(row.data(), vocabulary, u));
    }
    const auto sampled = sample<TestType>(probabilities, vocabulary, uniforms);
    CAPTURE(vocabulary);
    CHECK(sampled.tokens == expected);
    CHECK(sampled.status == std::vector<std::int32_t>(uniforms.size(), 0));
  }
}

TEMPLATE_LIST_TEST_CASE("the prefix boundaries of given probabilities are strict", "",
                        ExecutionSpaces) {
  const std::vector<float> row{0.0f, 0.25f, 0.0f, 0.25f, 0.5f, 0.0f};
  const std::vector<float> uniforms{0.0f, 0x1.fffffep-3f, 0.25f,       0x1.fffffep-2f,
                                    0.5f, last_uniform,   FLT_TRUE_MIN};
  std::vector<float> rows;
  for (std::size_t i = 0; i < uniforms.size(); ++i) rows.insert(rows.end(), row.begin(), row.end());
  CHECK(sample<TestType>(rows, 6, uniforms).tokens ==
        std::vector<std::int32_t>{1, 1, 3, 3, 4, 4, 1});
}

TEMPLATE_LIST_TEST_CASE("bad given probabilities end in a status and token -1", "",
                        ExecutionSpaces) {
  using tokkos::RowStatus;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> rows;
  const auto add = [&](std::vector<float> row) {
    row.resize(5000, 0.0f);
    rows.insert(rows.end(), row.begin(), row.end());
  };
  add({0.0f, 1.0f});
  add({});
  add({nan, 1.0f});
  add({1.5f, -0.5f});
  add({1.002f});
  add({infinity});
  add({0.5f, 0.48f});
  add({0.5f, 0.52f});
  add({0.5f, 0.495f});
  add({1.0005f});
  add({1.0f});
  const auto sampled = sample<TestType>(
      rows, 5000, {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.0f, 0.5f, nan});
  constexpr std::int32_t bad = RowStatus::invalid_probability;
  CHECK(sampled.status == std::vector<std::int32_t>{0, RowStatus::empty, bad, bad, bad, bad, bad,
                                                    bad, 0, 0, RowStatus::invalid_parameter});
  CHECK(sampled.tokens == std::vector<std::int32_t>{1, -1, -1, -1, -1, -1, -1, -1, 0, 0, -1});
}

TEMPLATE_LIST_TEST_CASE("uniforms of given probabilities are clamped below 0 and from 1 on", "",
                        ExecutionSpaces) {
  const std::vector<float> rows{0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
  CHECK(sample<TestType>(rows, 2, {-3.0f, 1.0f, 9.0f}).tokens ==
        std::vector<std::int32_t>{0, 1, 1});
}

TEMPLATE_LIST_TEST_CASE("sampling names an array that does not fit and writes nothing", "",
                        ExecutionSpaces) {
  using Memory = typename TestType::memory_space;
  const TestType space;
  const auto rows = on_device<Memory>(std::vector<float>(6, 0.5f), 2, 0, 0.0f);
  const auto three = on_device<Memory>(std::vector<float>(3, 0.5f));
  const auto two = on_device<Memory>(std::vector<float>(2, 0.5f));
  const auto tokens = on_device<Memory>(std::vector<std::int32_t>(3, -7));
  const auto short_tokens = on_device<Memory>(std::vector<std::int32_t>(2, -7));
  const auto field_of = [&](const auto& u, const auto& out, const auto& status) {
    const auto error =
        thrown_by([&] { tokkos::sample_from_probabilities(space, rows, u, out, status); });
    return error ? error->field() : std::string("none");
  };
  CHECK(field_of(two, tokens, tokens).find("uniforms") == 0);
  CHECK(field_of(three, short_tokens, tokens).find("tokens") == 0);
  CHECK(field_of(three, tokens, short_tokens).find("row_status") == 0);
  space.fence("tokkos::test::sample");
  CHECK(on_host(tokens) == std::vector<std::int32_t>(3, -7));
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> wide("wide", 1, 524288);
  const Kokkos::View<float*, Memory> one("one", 1);
  const Kokkos::View<std::int32_t*, Memory> token("token", 1);
  CHECK(thrown_by([&] { tokkos::sample_from_probabilities(space, wide, one, token); }).has_value());
}

TEMPLATE_LIST_TEST_CASE("sampling no rows is legal", "", ExecutionSpaces) {
  CHECK(sample<TestType>({}, 4, {}).tokens.empty());
}
