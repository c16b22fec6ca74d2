// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/kernels/chunk_lse.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>

#include "backends.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"
#include "sameness/any_space.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

namespace {

using namespace tokkos::test;
using LogitTypes = std::tuple<float, tokkos::bfloat16, tokkos::float16>;

template <class Logit>
RowBatch mixed_batch(std::int64_t rows, std::int64_t vocabulary) {
  RandomValues random(static_cast<std::uint64_t>(rows * 7 + vocabulary));
  RowBatch batch;
  batch.vocabulary = vocabulary;
  batch.active = vocabulary - vocabulary / 50;
  batch.words = (vocabulary + 31) / 32;
  batch.temperature.clear();
  const std::vector<float> temperatures{1.0f, 0.0f, 0.3f, 1.1e-5f, 1000.0f, -1.0f, 1.5f};
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto row = random.logits(vocabulary, 2.0f + static_cast<float>(i % 5), -3.0f);
    batch.logits.insert(batch.logits.end(), row.begin(), row.end());
    batch.temperature.push_back(temperatures[i % temperatures.size()]);
    batch.mask_index.push_back(i % 3 == 1 ? -1 : static_cast<std::int32_t>(i));
  }
  batch.bitmask = random.words(rows * batch.words, 2);
  if (rows > 4) {
    batch.logits[2 * vocabulary + 1] = std::numeric_limits<float>::quiet_NaN();
    std::fill_n(batch.bitmask.begin() + 3 * batch.words, batch.words, 0);
  }
  batch.logits = stored_values<Logit>(batch.logits);
  return batch;
}

/// Everything that a backend computes, as one list of words.
struct AllBits {
  RowResults verbs;
  RowResults fused;
  std::vector<float> chunked_sum;
  std::vector<float> chunked_max;
  std::vector<float> staged;
  std::vector<std::int32_t> sampled;
};

template <class Backend>
AllBits all_bits(const RowBatch& batch, const std::vector<float>& uniforms,
                 const typename Backend::execution_space& space) {
  using Memory = typename Backend::memory_space;
  AllBits bits;
  bits.verbs = verbs_of<Backend>(batch, uniforms, space);
  bits.fused = softmax_of<Backend>(batch, space);
  const DeviceRows<Backend> device(batch);
  const std::int64_t chunks = tokkos::chunk_count(batch.vocabulary);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> sum("sum", batch.rows(), chunks);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> max("max", batch.rows(), chunks);
  const Kokkos::View<std::int32_t*, Memory> tokens("tokens", batch.rows());
  const auto u = on_device<Memory>(uniforms);
  tokkos::chunk_lse(space, device.rows, sum, max);
  tokkos::softmax_with_chunked_sum(space, device.rows, sum, max, device.probabilities);
  const tokkos::Matrix<const float, Memory> probabilities = device.probabilities;
  tokkos::sample_from_probabilities(space, probabilities, u, tokens);
  space.fence("tokkos::test::all_bits");
  bits.chunked_sum = on_host(sum);
  bits.chunked_max = on_host(max);
  bits.sampled = on_host(tokens);
  RowResults staged;
  device.read_probabilities(staged);
  bits.staged = staged.probabilities;
  return bits;
}

/// Bit for bit: -0 is not 0, and NaN is itself.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

void check_same(const AllBits& a, const AllBits& b) {
  CHECK(same(a.verbs.probabilities, b.verbs.probabilities));
  CHECK(same(a.fused.probabilities, b.fused.probabilities));
  CHECK(same(a.verbs.probabilities, b.fused.probabilities));
  CHECK(same(a.verbs.status, b.verbs.status));
  CHECK(same(a.verbs.tokens, b.verbs.tokens));
  CHECK(same(a.verbs.argmax, b.verbs.argmax));
  CHECK(same(a.verbs.log_sum_exp, b.verbs.log_sum_exp));
  CHECK(same(a.verbs.chunk_maximum, b.verbs.chunk_maximum));
  CHECK(same(a.verbs.chunk_sum, b.verbs.chunk_sum));
  CHECK(same(a.fused.chunk_sum, b.fused.chunk_sum));
  CHECK(same(a.verbs.row_maximum, b.verbs.row_maximum));
  CHECK(same(a.verbs.row_mass, b.verbs.row_mass));
  CHECK(same(a.chunked_sum, b.chunked_sum));
  CHECK(same(a.chunked_max, b.chunked_max));
  CHECK(same(a.staged, b.staged));
  CHECK(same(a.sampled, b.sampled));
}

template <class Space, class Logit>
void check_against(const AllBits& expected, const RowBatch& batch,
                   const std::vector<float>& uniforms) {
  for (const Space& space : instances_of<Space>()) {
    CAPTURE(Space::name(), space.concurrency());
    check_same(expected, all_bits<tokkos::test::Backend<Space, Logit>>(batch, uniforms, space));
  }
}

template <class Logit, class... Spaces>
void check_all_spaces(std::tuple<Spaces...>, const RowBatch& batch,
                      const std::vector<float>& uniforms) {
  using Plain = tokkos::test::Backend<Kokkos::Serial, Logit>;
  const auto expected = all_bits<Plain>(batch, uniforms, Kokkos::Serial());
  (check_against<Spaces, Logit>(expected, batch, uniforms), ...);
}

/// Rows [first, first + count) of a batch as a batch of their own.
RowBatch part_of(const RowBatch& batch, std::int64_t first, std::int64_t count) {
  RowBatch part = batch;
  const auto cut = [&](auto& values, const auto& from, std::int64_t width) {
    values.assign(from.begin() + first * width, from.begin() + (first + count) * width);
  };
  cut(part.logits, batch.logits, batch.vocabulary);
  cut(part.temperature, batch.temperature, 1);
  cut(part.bitmask, batch.bitmask, batch.words);
  cut(part.mask_index, batch.mask_index, 1);
  for (auto& index : part.mask_index)
    index = index < 0 ? -1 : index - static_cast<std::int32_t>(first);
  return part;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("every space and number of threads gives the same bits", "[sameness]",
                        LogitTypes) {
  for (const auto& [rows, vocabulary] : {std::pair<std::int64_t, std::int64_t>{1, 50257},
                                         {1, 100},
                                         {2, 128256},
                                         {5, 131101},
                                         {3, 4097},
                                         {9, 8193},
                                         {40, 5000}}) {
    CAPTURE(rows, vocabulary);
    const auto batch = mixed_batch<TestType>(rows, vocabulary);
    const auto uniforms = RandomValues(91).uniforms(rows);
    check_all_spaces<TestType>(ExecutionSpaces{}, batch, uniforms);
  }
}

TEMPLATE_LIST_TEST_CASE("a row alone has the bits that it has anywhere in a batch", "[sameness]",
                        Backends) {
  using Logit = typename TestType::logit;
  const std::int64_t rows = 12;
  const std::int64_t vocabulary = 20000;
  const auto batch = mixed_batch<Logit>(rows, vocabulary);
  const auto uniforms = RandomValues(92).uniforms(rows);
  const typename TestType::execution_space space;
  const auto whole = all_bits<TestType>(batch, uniforms, space);
  for (std::int64_t i = 0; i < rows; ++i) {
    CAPTURE(i);
    const auto alone = all_bits<TestType>(part_of(batch, i, 1), {uniforms[i]}, space);
    const auto begin = whole.verbs.probabilities.begin() + i * vocabulary;
    CHECK(same(alone.verbs.probabilities, {begin, begin + vocabulary}));
    CHECK(same(alone.fused.probabilities, alone.verbs.probabilities));
    CHECK(alone.verbs.tokens[0] == whole.verbs.tokens[i]);
    CHECK(alone.verbs.argmax[0] == whole.verbs.argmax[i]);
    CHECK(alone.verbs.status[0] == whole.verbs.status[i]);
    CHECK(alone.verbs.log_sum_exp[0] == whole.verbs.log_sum_exp[i]);
    CHECK(alone.verbs.row_maximum[0] == whole.verbs.row_maximum[i]);
    CHECK(alone.verbs.row_mass[0] == whole.verbs.row_mass[i]);
    CHECK(alone.sampled[0] == whole.sampled[i]);
    const auto staged = whole.staged.begin() + i * vocabulary;
    CHECK(same(alone.staged, {staged, staged + vocabulary}));
  }
}

TEMPLATE_LIST_TEST_CASE("a batch split in two gives the bits of the whole", "[sameness]",
                        Backends) {
  const auto batch = mixed_batch<typename TestType::logit>(10, 9000);
  const auto uniforms = RandomValues(93).uniforms(10);
  const typename TestType::execution_space space;
  const auto whole = verbs_of<TestType>(batch, uniforms, space);
  auto head =
      verbs_of<TestType>(part_of(batch, 0, 4), {uniforms.begin(), uniforms.begin() + 4}, space);
  const auto tail =
      verbs_of<TestType>(part_of(batch, 4, 6), {uniforms.begin() + 4, uniforms.end()}, space);
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(head.probabilities, tail.probabilities);
  append(head.tokens, tail.tokens);
  append(head.chunk_sum, tail.chunk_sum);
  CHECK(same(head.probabilities, whole.probabilities));
  CHECK(head.tokens == whole.tokens);
  CHECK(head.chunk_sum == whole.chunk_sum);
}
