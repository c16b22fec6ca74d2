// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"
#include "flush_to_zero.hpp"
#include "lm_head/head_on_device.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <set>

namespace {

using namespace tokkos::test;
using tokkos::LmHeadProduct;

constexpr std::int64_t vocabulary = 5 * 4096 - 1000;
constexpr std::int64_t chunk = 4096;

template <class Backend>
HeadResults streamed(HeadCase head, std::int64_t block,
                     tokkos::GreedyTies ties = tokkos::GreedyTies::uniform) {
  head.options.block_tokens = block;
  return DeviceHead<Backend>(head).stream(ties);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "an LM head gives the bits of whole rows of logits for every block size and weight type",
    "[lm_head]", Backends) {
  const HeadCase head = full_case(7, vocabulary, 20, 11);
  const HeadResults expected = DeviceHead<TestType>(head).whole();
  // The case is worth it: tokens of several chunks, and every row but none flagged.
  std::set<std::int64_t> chunks;
  for (const auto token : expected.tokens) chunks.insert(token / chunk);
  CHECK(chunks.size() > 2);
  CHECK(std::ranges::count(expected.status, 0) == 7);
  for (const std::int64_t block : {chunk, 2 * chunk, 3 * chunk, 5 * chunk, std::int64_t{0}}) {
    CAPTURE(block);
    CHECK(streamed<TestType>(head, block) == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("vocabularies of any length, and edits at every border, are whole",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  for (const std::int32_t length :
       {1, 2, 31, 33, 255, 256, 257, 4095, 4096, 4097, 4351, 4353, 8191, 8192, 8193, 12289}) {
    for (const std::int32_t active : {length, length - 1, (length + 1) / 2}) {
      if (active == 0) continue;
      CAPTURE(length, active);
      HeadCase head = full_case(3, length, 8, 100 + length);
      head.options.active_vocabulary = active;
      std::erase_if(head.edits, [](const HeadEdit& edit) { return edit.row == 1; });
      for (std::int32_t border = 0; border <= length; border += 256) {
        if (border > 0) head.edits.push_back({1, border - 1, 3.0f});
        if (border < length) head.edits.push_back({1, border, 2.0f, 1});
      }
      CHECK(streamed<OnSpace>(head, chunk) == DeviceHead<OnSpace>(head).whole());
    }
  }
}

TEMPLATE_LIST_TEST_CASE("edits of tokens that do not exist are flagged once and change no other",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  for (const std::int32_t token : {-1, -5000, 12288, 12300, 1 << 30}) {
    CAPTURE(token);
    HeadCase head = full_case(4, 3 * chunk, 8, 19);
    head.edits.push_back({2, token, 1.0f});
    head.edits.push_back({3, token, 1.0f, 1});
    const HeadResults expected = DeviceHead<OnSpace>(head).whole();
    CHECK(expected.status[2] != 0);
    CHECK(expected.status[3] != 0);
    CHECK(streamed<OnSpace>(head, chunk) == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("a caller that flushes subnormals changes no bit of an LM head",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  HeadCase head = full_case(3, vocabulary, 8, 20);
  for (float& weight : head.weight) weight *= 1e-38f;
  head.options.scale = 3e37f;
  const HeadResults expected = streamed<OnSpace>(head, chunk);
  HeadResults flushed;
  {
    const FlushToZero mode;
    flushed = streamed<OnSpace>(head, chunk);
  }
  CHECK(flushed == expected);
}

TEMPLATE_LIST_TEST_CASE("a row of an LM head has the same bits alone and in any batch", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, tokkos::bfloat16>;
  HeadCase head = full_case(9, vocabulary, 33, 12);
  head.options.block_tokens = 2 * chunk;
  const HeadResults together = DeviceHead<OnSpace>(head).stream();
  for (const std::int64_t step : {1, 2, 3, 4}) {
    CAPTURE(step);
    HeadResults apart;
    for (std::int64_t i = 0; i < head.rows; i += step) {
      apart.append(DeviceHead<OnSpace>(head.part(i, std::min(step, head.rows - i))).stream());
    }
    CHECK(apart == together);
  }
}

TEMPLATE_LIST_TEST_CASE("an LM head made for more rows gives the same bits", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  const DeviceHead<OnSpace> device(full_case(3, vocabulary, 16, 13));
  const HeadResults expected = device.stream();
  CHECK(device.stream(tokkos::GreedyTies::uniform, 40) == expected);
}

TEMPLATE_LIST_TEST_CASE("products by gemm give the bits of their own whole rows of logits",
                        "[lm_head]", Backends) {
  HeadCase head = full_case(6, vocabulary, 20, 14);
  head.options.product = LmHeadProduct::gemm;
  const HeadResults expected = DeviceHead<TestType>(head).whole();
  for (const std::int64_t block : {chunk, 2 * chunk, 5 * chunk}) {
    CAPTURE(block);
    CHECK(streamed<TestType>(head, block) == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("greedy rows take the lowest of equal maxima where that is asked for",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  HeadCase head = plain_case(3, vocabulary, 8, 15);
  head.temperature = {0.0f};
  // Weights of some tokens are the same: so are their logits, the largest ones.
  for (const std::int64_t token : {300, 5000, 9000, 18000}) {
    for (std::int64_t k = 0; k < head.size; ++k) {
      head.weight[token * head.size + k] = 20.0f * head.hidden[k];
    }
  }
  for (const auto ties : {tokkos::GreedyTies::uniform, tokkos::GreedyTies::lowest_id}) {
    const HeadResults expected = DeviceHead<OnSpace>(head).whole(ties);
    if (ties == tokkos::GreedyTies::lowest_id) CHECK(expected.tokens[0] == 300);
    for (const std::int64_t block : {chunk, 2 * chunk, 5 * chunk}) {
      CHECK(streamed<OnSpace>(head, block, ties) == expected);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("the first tokens of equal logits come from the lowest blocks", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  HeadCase head = plain_case(2, vocabulary, 4, 16);
  std::ranges::fill(head.weight, 0.0f);  // every logit is 0
  head.top = 128;
  const HeadResults results = streamed<OnSpace>(head, chunk);
  for (std::int32_t i = 0; i < 128; ++i) CHECK(results.top_tokens[i] == i);
  CHECK(results == DeviceHead<OnSpace>(head).whole());
}

TEMPLATE_LIST_TEST_CASE("lists of any length are merged over blocks", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  for (const std::int64_t top : {0, 1, 20, 128}) {
    HeadCase head = full_case(4, vocabulary, 12, 17);
    head.top = top;
    const HeadResults expected = DeviceHead<OnSpace>(head).whole();
    CHECK(streamed<OnSpace>(head, chunk) == expected);
    // Fewer tokens are allowed than are asked for.
    std::ranges::fill(head.words, 0);
    for (const std::size_t word : {3, 200, 500}) head.words[word] = 0x00f1;
    CHECK(streamed<OnSpace>(head, chunk) == DeviceHead<OnSpace>(head).whole());
  }
}

#if defined(KOKKOS_ENABLE_OPENMP)
TEST_CASE("an LM head gives the same bits on OpenMP and Serial", "[lm_head]") {
  HeadCase head = full_case(8, vocabulary, 50, 18);
  head.options.block_tokens = chunk;
  for (const auto product : {LmHeadProduct::fixed_order, LmHeadProduct::gemm}) {
    head.options.product = product;
    CHECK(DeviceHead<Backend<Kokkos::OpenMP, float>>(head).stream() ==
          DeviceHead<Backend<Kokkos::Serial, float>>(head).stream());
  }
}
#endif
