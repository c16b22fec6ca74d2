// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/edits_reference.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace tokkos::test;

// The last row begins past element 2^31.
constexpr std::int64_t vocabulary = 200000;
constexpr std::int64_t rows = 10900;
constexpr std::int64_t last = rows - 1;
static_assert(last * vocabulary > std::int64_t{1} << 31);

/// Only a few of its rows are ever written or read, so that on a host the rest needs no memory.
template <class T, class Memory>
using Huge = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;

template <class T, class Memory>
Huge<T, Memory> huge(const std::string& label) {
  return Huge<T, Memory>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), rows, vocabulary);
}

template <class View, class T>
void set_row(const View& view, std::int64_t row, const std::vector<T>& values) {
  Kokkos::deep_copy(Kokkos::subview(view, row, Kokkos::ALL),
                    on_device<typename View::memory_space>(values));
}

template <class View>
auto row_of(const View& view, std::int64_t row) {
  using T = typename View::non_const_value_type;
  const Kokkos::View<T*, typename View::memory_space> copy("row", view.extent(1));
  Kokkos::deep_copy(copy, Kokkos::subview(view, row, Kokkos::ALL));
  return on_host(copy);
}

/// The two rows that the test uses, as a small batch.
RowBatch two_rows() {
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.logits = stored_values<tokkos::float16>(RandomValues(97).logits(2 * vocabulary));
  return batch;
}

std::vector<tokkos::float16> stored_row(const RowBatch& batch, std::int64_t row) {
  std::vector<tokkos::float16> stored;
  for (std::int64_t v = 0; v < vocabulary; ++v) {
    stored.push_back(tokkos::float16::narrow(batch.logits[row * vocabulary + v]));
  }
  return stored;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("rows past element 2^31 are read and written like any other", "[slow]",
                        ExecutionSpaces) {
  using Backend = tokkos::test::Backend<TestType, tokkos::float16>;
  using Memory = typename TestType::memory_space;
  const TestType space;
  auto batch = two_rows();
  const std::vector<float> uniforms{0.2f, 0.8f};
  const auto expected = verbs_of<Backend>(batch, uniforms);

  const auto logits = huge<tokkos::float16, Memory>("test::huge_logits");
  set_row(logits, 0, stored_row(batch, 0));
  set_row(logits, last, stored_row(batch, 1));
  batch.row_index = {0, 1};
  const DeviceRows<Backend> device(batch);
  auto step = device.rows;
  const auto index =
      on_device<Memory>(std::vector<std::int32_t>{0, static_cast<std::int32_t>(last)});
  step.logits = logits;
  step.row_index = index;
  const auto u = on_device<Memory>(uniforms);
  const Kokkos::View<std::int32_t*, Memory> tokens("tokens", 2);
  // Two rows of probabilities, the second past element 2^31 of its allocation.
  const auto out = huge<float, Memory>("test::huge_probabilities");
  const tokkos::Matrix<float, Memory> probabilities(
      out.data(), Kokkos::LayoutStride(2, last * vocabulary, vocabulary, 1));
  tokkos::measure(space, step, device.measures, device.status);
  tokkos::draw(space, step, device.measures, u, tokens);
  tokkos::normalize(space, step, device.measures, probabilities);
  space.fence("tokkos::test::huge");
  CHECK(on_host(tokens) == expected.tokens);
  const auto begin = expected.probabilities.begin();
  CHECK(row_of(probabilities, 0) == std::vector<float>(begin, begin + vocabulary));
  CHECK(row_of(probabilities, 1) ==
        std::vector<float>(begin + vocabulary, expected.probabilities.end()));
  tokkos::softmax(space, step, device.measures, probabilities, device.status);
  space.fence("tokkos::test::huge");
  CHECK(row_of(probabilities, 1) ==
        std::vector<float>(begin + vocabulary, expected.probabilities.end()));
}

TEMPLATE_LIST_TEST_CASE("rows past element 2^31 are edited like any other", "[slow]",
                        ExecutionSpaces) {
  using Memory = typename TestType::memory_space;
  const TestType space;
  const auto batch = two_rows();
  const auto logits = huge<tokkos::float16, Memory>("test::huge_logits");
  const auto stored = stored_row(batch, 0);
  set_row(logits, last, stored);
  const auto row = on_device<Memory>(std::vector<std::int32_t>{static_cast<std::int32_t>(last)});
  const auto zero = on_device<Memory>(std::vector<std::int32_t>{0});
  const auto token = on_device<Memory>(std::vector<std::int32_t>{199999});
  const auto other = on_device<Memory>(std::vector<std::int32_t>{199998});
  const auto one = on_device<Memory>(std::vector<std::int32_t>{1});
  const auto bias = on_device<Memory>(std::vector<float>{4.5f});
  const auto penalties = on_device<Memory>(std::vector<float>{0.5f, 0.25f, 1.5f}, 3, 0, 0.0f);
  const Huge<std::int32_t, Memory> words(
      Kokkos::view_alloc("test::huge_words", Kokkos::WithoutInitializing), rows, 6250);
  std::vector<std::int32_t> mask(6250, -1);
  mask[6248] = 0;
  set_row(words, last, mask);
  tokkos::apply_logit_bias_inplace(space, logits, row, token, bias);
  tokkos::apply_penalty_inplace(space, logits, row, zero, other, one,
                                without_padding<const float>(penalties, 3));
  tokkos::apply_bitmask_inplace(space, logits, row, words);
  space.fence("tokkos::test::huge");

  std::vector<std::uint32_t> expected;
  for (const auto logit : stored) expected.push_back(logit.bits);
  const auto value = [&](std::int64_t v) { return batch.logits[v]; };
  expected[199999] = pattern_of<tokkos::float16>(reference_bias(value(199999), 4.5f));
  expected[199998] =
      pattern_of<tokkos::float16>(reference_penalty(value(199998), {0.5f, 0.25f, 1.5f, 1}));
  for (std::int64_t v = 6248 * 32; v < 6249 * 32; ++v) expected[v] = 0xfc00;
  std::vector<std::uint32_t> actual;
  for (const auto logit : row_of(logits, last)) actual.push_back(logit.bits);
  CHECK(actual == expected);
}
