// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/softmax_with_temperature.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace tokkos::test;

constexpr std::array<float, 8> temperatures{0.0f, 1e-5f, 1.1e-5f, 1e-3f, 0.3f, 1.0f, 1.5f, 1000.0f};
constexpr std::array<float, 5> shifts{0.0f, 300.0f, -20000.0f, 1e5f, -1e5f};

/// A row for every temperature and shift, with and without a mask; of large vocabularies only every
/// temperature with one shift each.
template <class Logit>
RowBatch grid_batch(std::int64_t vocabulary, std::int64_t active) {
  RandomValues random(static_cast<std::uint64_t>(vocabulary + active));
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.active = active;
  batch.temperature.clear();
  batch.words = (vocabulary + 31) / 32;
  const bool large = vocabulary > 10000;
  for (std::size_t t = 0; t < temperatures.size(); ++t) {
    for (std::size_t s = 0; s < shifts.size(); ++s) {
      if (large && s != t % shifts.size()) continue;
      const auto logits = random.logits(vocabulary, 3.0f, shifts[s]);
      batch.logits.insert(batch.logits.end(), logits.begin(), logits.end());
      batch.temperature.push_back(temperatures[t]);
      const auto words = random.words(batch.words, 2);
      batch.bitmask.insert(batch.bitmask.end(), words.begin(), words.end());
      batch.bitmask[batch.bitmask.size() - static_cast<std::size_t>(batch.words)] |= 1;
      const auto row = static_cast<std::int32_t>(batch.mask_index.size());
      batch.mask_index.push_back((t + s) % 2 == 0 ? row : -1);
    }
  }
  batch.logits = stored_values<Logit>(batch.logits);
  return batch;
}

struct Mistakes {
  SoftmaxMistakes sum;
  int wrong_status = 0;
};

Mistakes mistakes_of(const RowBatch& batch, const RowResults& results) {
  Mistakes total;
  for (std::int64_t i = 0; i < batch.rows(); ++i) {
    const auto row = batch.reference_row(i);
    const auto expected = reference_softmax(row);
    const auto begin = static_cast<std::size_t>(i * batch.vocabulary);
    const auto found =
        compare(row, expected, std::span(results.probabilities).subspan(begin, batch.vocabulary));
    total.sum.not_zero += found.not_zero;
    total.sum.out_of_bound += found.out_of_bound;
    total.sum.subnormal += found.subnormal;
    total.sum.sum_error = std::max(total.sum.sum_error, found.sum_error);
    total.wrong_status += results.status[i] == expected.status ? 0 : 1;
  }
  return total;
}

void check(const RowBatch& batch, const RowResults& results) {
  const Mistakes mistakes = mistakes_of(batch, results);
  CHECK(mistakes.sum.not_zero == 0);
  CHECK(mistakes.sum.out_of_bound == 0);
  CHECK(mistakes.sum.subnormal == 0);
  CHECK(mistakes.sum.sum_error <= 1e-6);
  CHECK(mistakes.wrong_status == 0);
  CHECK(results.padding_is_untouched);
}

/// [n, V] probabilities by the seed's entry.
template <class Backend>
std::vector<float> by_seed_entry(const RowBatch& batch) {
  using Memory = typename Backend::memory_space;
  const typename Backend::execution_space space;
  const LogitBlock<Backend> block(batch.logits, batch.vocabulary, 0);
  const auto temperature = on_device<Memory>(batch.temperature);
  const tokkos::Workspace<Memory> workspace(batch.rows(), batch.vocabulary);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> out("out", batch.rows(),
                                                               batch.vocabulary);
  tokkos::softmax_with_temperature(space, block.logits(), temperature, out, workspace);
  space.fence("tokkos::test::by_seed_entry");
  return on_host(out);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("softmax keeps its error bound for every vocabulary and temperature", "",
                        Backends) {
  using Logit = typename TestType::logit;
  for (const std::int64_t vocabulary : {1, 31, 32, 33, 4095, 4096, 4097, 8193}) {
    for (const std::int64_t active : {vocabulary, std::max<std::int64_t>(1, vocabulary - 2)}) {
      CAPTURE(vocabulary, active);
      const auto batch = grid_batch<Logit>(vocabulary, active);
      check(batch, softmax_of<TestType>(batch));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("softmax keeps its error bound for the vocabularies of models", "",
                        Backends) {
  using Logit = typename TestType::logit;
  for (const std::int64_t vocabulary : {50257, 128256, 262144}) {
    CAPTURE(vocabulary);
    const auto batch = grid_batch<Logit>(vocabulary, vocabulary % 2 == 1 ? vocabulary : 40000);
    check(batch, softmax_of<TestType>(batch));
  }
  const auto whole = grid_batch<Logit>(262144, 0);
  check(whole, softmax_of<TestType>(whole));
}

TEMPLATE_LIST_TEST_CASE("a greedy row shares its mass equally among the maxima", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 9000;
  batch.logits.assign(3 * 9000, 1.0f);
  for (const std::int64_t v : {5, 4095, 4096, 8999}) batch.logits[v] = 2.0f;
  batch.logits[9000 + 7] = 0.0f;
  for (std::int64_t v = 0; v < 9000; ++v) batch.logits[18000 + v] = v % 2 == 0 ? 0.0f : -0.0f;
  batch.temperature = {1e-5f, 0.0f, 0.0f};
  const auto p = softmax_of<TestType>(batch).probabilities;
  for (const std::int64_t v : {5, 4095, 4096, 8999}) CHECK(p[v] == 0.25f);
  CHECK(p[6] == 0.0f);
  CHECK(p[9000 + 7] == 0.0f);
  CHECK(p[9000 + 8] == 1.0f / 8999.0f);
  CHECK(p[18000] == 1.0f / 9000.0f);  // -0 equals +0
  CHECK(p[18001] == 1.0f / 9000.0f);
}

TEMPLATE_LIST_TEST_CASE("the smallest temperature that is not greedy is finite and sums to 1", "",
                        Backends) {
  RowBatch batch;
  batch.vocabulary = 8193;
  batch.temperature = {std::nextafter(1e-5f, 1.0f)};
  batch.logits = stored_values<typename TestType::logit>(RandomValues(5).logits(3 * 8193, 1e-4f));
  check(batch, softmax_of<TestType>(batch));
}

TEMPLATE_LIST_TEST_CASE("huge logits and temperatures stay finite", "", Backends) {
  using Logit = typename TestType::logit;
  RowBatch batch;
  batch.vocabulary = 8;
  const std::vector<float> wide{1e34f,  9.9e33f, -1e34f,           3e38f,
                                -3e38f, 0.0f,    -0x1.fffffcp127f, 1.0f};
  const std::vector<float> near{1e34f, 9.9e33f, 9e33f, 0.0f, 1.0f, -1e33f, 9.99e33f, 1e34f};
  batch.temperature = {2e-5f, 1.0f, 1e30f, 0.0f, 2e-5f, 1e33f, 3e33f, FLT_MAX};
  for (std::size_t i = 0; i < batch.temperature.size(); ++i) {
    const auto& row = i < 4 ? wide : near;
    batch.logits.insert(batch.logits.end(), row.begin(), row.end());
  }
  batch.logits = stored_values<Logit>(batch.logits);
  check(batch, softmax_of<TestType>(batch));
}

TEMPLATE_LIST_TEST_CASE("a probability below FLT_MIN is stored as exactly 0", "", Backends) {
  RowBatch batch;
  batch.vocabulary = 9000;
  batch.temperature = {1.0f, 0.125f};
  batch.logits.assign(2 * 9000, 0.0f);
  // 1000 maxima, and every probability from 1e-34 down to nothing in steps of a few percent
  for (std::int64_t v = 1000; v < 9000; ++v) {
    const float z = -72.0f - static_cast<float>(v % 512) * 0.0625f;
    batch.logits[v] = z;
    batch.logits[9000 + v] = 0.125f * z;
  }
  batch.logits = stored_values<typename TestType::logit>(batch.logits);
  check(batch, softmax_of<TestType>(batch));
}

TEMPLATE_LIST_TEST_CASE("one row with whole chunks past its active vocabulary is zeroed there", "",
                        Backends) {
  for (const std::int64_t active : {1, 4096, 4097, 9000}) {
    RowBatch batch;
    batch.vocabulary = 20000;
    batch.active = active;
    batch.logits = stored_values<typename TestType::logit>(RandomValues(10).logits(20000));
    check(batch, softmax_of<TestType>(batch));
  }
}

TEMPLATE_LIST_TEST_CASE("masked and minus infinite logits have probability exactly 0", "",
                        Backends) {
  using Logit = typename TestType::logit;
  RowBatch batch;
  batch.vocabulary = 4100;
  batch.logits = stored_values<Logit>(RandomValues(6).logits(4100));
  const float masked =
      std::same_as<Logit, float> ? -FLT_MAX : -std::numeric_limits<float>::infinity();
  for (std::size_t v = 0; v < batch.logits.size(); v += 3) batch.logits[v] = masked;
  batch.logits[4099] = -std::numeric_limits<float>::infinity();
  check(batch, softmax_of<TestType>(batch));
}

TEMPLATE_LIST_TEST_CASE("rows are taken by their index, masks by theirs", "", Backends) {
  using Logit = typename TestType::logit;
  RandomValues random(7);
  RowBatch batch;
  batch.vocabulary = 5000;
  batch.logits = stored_values<Logit>(random.logits(4 * 5000));
  batch.row_index = {3, 0, 3, 2, 1, 3};
  batch.words = 157 + 2;
  batch.bitmask = random.words(3 * batch.words);
  batch.mask_index = {2, -1, 0, 1, 1, -1};
  batch.temperature = {1.0f, 0.5f, 2.0f, 0.0f, 1.0f, 0.7f};
  check(batch, softmax_of<TestType>(batch));
  batch.temperature = {0.8f};  // one for all rows
  check(batch, softmax_of<TestType>(batch));
}

TEMPLATE_LIST_TEST_CASE("the seed's entry takes two extents, and three with 1 in the middle", "",
                        Backends) {
  using Logit = typename TestType::logit;
  using Memory = typename TestType::memory_space;
  RowBatch batch;
  batch.vocabulary = 4097;
  batch.logits = stored_values<Logit>(RandomValues(8).logits(3 * 4097));
  batch.temperature = {0.7f, 0.0f, 1.3f};
  const auto expected = softmax_of<TestType>(batch).probabilities;
  CHECK(by_seed_entry<TestType>(batch) == expected);

  const LogitBlock<TestType> block(batch.logits, batch.vocabulary, 0);
  const Kokkos::View<Logit***, Kokkos::LayoutRight, Memory> logits(block.logits().data(), 3, 1,
                                                                   4097);
  const Kokkos::View<float***, Kokkos::LayoutRight, Memory> out("out", 3, 1, 4097);
  const typename TestType::execution_space space;
  const tokkos::Workspace<Memory> workspace(3, 4097);
  const auto temperature = on_device<Memory>(batch.temperature);
  tokkos::softmax_with_temperature(space, logits, temperature, out, workspace);
  space.fence("tokkos::test::softmax");
  CHECK(on_host(out) == expected);

  const Kokkos::View<Logit***, Kokkos::LayoutRight, Memory> two(block.logits().data(), 1, 3, 4097);
  const auto error =
      thrown_by([&] { tokkos::softmax_with_temperature(space, two, temperature, out, workspace); });
  REQUIRE(error.has_value());
  CHECK(error->field().find("logits") == 0);
  CHECK(error->value() == "3");
}

TEMPLATE_LIST_TEST_CASE("draw and argmax after an in-place softmax stay inside the vocabulary", "",
                        ExecutionSpaces) {
  using Memory = typename TestType::memory_space;
  const TestType space;
  RandomValues random(90);
  RowBatch batch;
  batch.vocabulary = 9000;
  batch.active = 8000;
  batch.temperature = {0.0f, 1e-3f, 1.0f, 1000.0f};
  batch.logits = random.logits(4 * 9000);
  const DeviceRows<tokkos::test::Backend<TestType, float>> device(batch);
  const auto in_place = device.block().logits();
  const auto uniforms = on_device<Memory>(std::vector<float>(4, 0.999f));
  const Kokkos::View<std::int32_t*, Memory> drawn("test::drawn", 4), largest("test::argmax", 4);
  tokkos::softmax(space, device.rows, device.measures, in_place, device.status);
  tokkos::draw(space, device.rows, device.measures, uniforms, drawn);
  tokkos::argmax(space, device.rows, device.measures, largest);
  space.fence("tokkos::test::in_place");
  for (const auto& tokens : {on_host(drawn), on_host(largest)}) {
    for (const std::int32_t token : tokens) CHECK((token >= -1 && token < 8000));
  }
}

TEMPLATE_LIST_TEST_CASE("in place gives the same bits as separate memory", "", ExecutionSpaces) {
  using Backend = tokkos::test::Backend<TestType, float>;
  const TestType space;
  for (const std::int64_t rows : {1, 2, 7}) {
    for (const std::int64_t vocabulary : {1, 33, 4096, 10001}) {
      RowBatch batch;
      batch.vocabulary = vocabulary;
      batch.logits = RandomValues(9).logits(rows * vocabulary);
      batch.active = std::max<std::int64_t>(1, vocabulary - 3);
      const auto expected = softmax_of<Backend>(batch).probabilities;
      const DeviceRows<Backend> device(batch);
      const auto logits = device.block().logits();
      tokkos::softmax(space, device.rows, device.measures, logits, device.status);
      space.fence("tokkos::test::in_place");
      std::vector<std::uint32_t> patterns;
      for (const float p : expected) patterns.push_back(std::bit_cast<std::uint32_t>(p));
      CHECK(device.block().patterns() == patterns);
      CHECK(device.block().padding_is_untouched());
    }
  }
}
