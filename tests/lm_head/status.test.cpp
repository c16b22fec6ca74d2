// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/row_status.hpp>

#include "backends.hpp"
#include "lm_head/head_on_device.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using namespace tokkos::test;
using tokkos::RowStatus;

constexpr std::int64_t vocabulary = 3 * 4096;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::uint32_t minus_infinity = 0xff800000u;

/// Checks that row 1 has these bits and no result, and that the others are as without the fault.
void check_row_one(const HeadResults& broken, const HeadResults& sound, std::int32_t status) {
  CHECK(broken.status[1] == status);
  CHECK(broken.tokens[1] == -1);
  CHECK(broken.token_logprobs[1] == minus_infinity);
  CHECK(broken.log_sum_exp[1] == minus_infinity);
  const std::size_t given = broken.given_logprobs.size() / 3;
  for (std::size_t j = 0; j < given; ++j) CHECK(broken.given_logprobs[given + j] == minus_infinity);
  const std::size_t top = broken.top_tokens.size() / 3;
  for (std::size_t j = 0; j < top; ++j) {
    CHECK(broken.top_tokens[top + j] == -1);
    CHECK(broken.top_logprobs[top + j] == minus_infinity);
  }
  for (const std::size_t i : {0, 2}) {
    CHECK(broken.status[i] == sound.status[i]);
    CHECK(broken.tokens[i] == sound.tokens[i]);
    CHECK(broken.token_logprobs[i] == sound.token_logprobs[i]);
    CHECK(broken.log_sum_exp[i] == sound.log_sum_exp[i]);
    for (std::size_t j = 0; j < top; ++j) {
      CHECK(broken.top_logprobs[i * top + j] == sound.top_logprobs[i * top + j]);
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("hidden states that are no numbers end their own row alone", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  for (const std::int64_t block : {4096, 3 * 4096}) {
    HeadCase head = plain_case(3, vocabulary, 24, 41);
    head.options.block_tokens = block;
    const HeadResults sound = DeviceHead<OnSpace>(head).stream();
    CHECK(sound.status == std::vector<std::int32_t>{0, 0, 0});
    head.hidden[head.size + 5] = std::nanf("");
    const HeadResults nan = DeviceHead<OnSpace>(head).stream();
    check_row_one(nan, sound, RowStatus::nan_logit);
    CHECK(nan == DeviceHead<OnSpace>(head).whole());
  }
}

TEMPLATE_LIST_TEST_CASE("an infinite logit ends its row unless a cap makes it finite", "[lm_head]",
                        ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  HeadCase head = plain_case(3, vocabulary, 24, 42);
  head.options.block_tokens = 4096;
  const HeadResults sound = DeviceHead<OnSpace>(head).stream();
  for (std::int64_t k = 0; k < head.size; ++k) head.weight[4500 * head.size + k] = 0.0f;
  head.weight[4500 * head.size] = infinity;
  head.hidden[0] = head.hidden[2 * head.size] = -1.0f;  // -infinity: forbidden
  head.hidden[head.size] = 1.0f;
  const HeadResults infinite = DeviceHead<OnSpace>(head).stream();
  CHECK(infinite.status == std::vector<std::int32_t>{0, RowStatus::positive_infinity, 0});
  CHECK(infinite.tokens[1] == -1);
  CHECK(infinite == DeviceHead<OnSpace>(head).whole());
  head.options.soft_cap = 30.0f;
  const HeadResults capped = DeviceHead<OnSpace>(head).stream();
  CHECK(capped.status == std::vector<std::int32_t>{0, 0, 0});
  CHECK(capped.top_tokens[head.top] == 4500);
  CHECK(capped == DeviceHead<OnSpace>(head).whole());
}

TEMPLATE_LIST_TEST_CASE("a row of which every token is masked is empty, one with some is not",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  HeadCase head = plain_case(3, vocabulary, 24, 43);
  head.options.block_tokens = 4096;
  const auto width = static_cast<std::size_t>(head.mask_width());
  head.words.assign(3 * width, -1);
  const HeadResults sound = DeviceHead<OnSpace>(head).stream();
  for (std::size_t i = 0; i < width; ++i) head.words[width + i] = 0;
  check_row_one(DeviceHead<OnSpace>(head).stream(), sound, RowStatus::empty);
  head.words[width + 140] = 4;  // token 4482 alone, of the second block
  const HeadResults single = DeviceHead<OnSpace>(head).stream();
  CHECK(single.status[1] == 0);
  CHECK(single.tokens[1] == 4482);
  CHECK(std::bit_cast<float>(single.token_logprobs[1]) == 0.0f);
  CHECK(single == DeviceHead<OnSpace>(head).whole());
}

TEMPLATE_LIST_TEST_CASE("temperatures and uniforms that are no numbers end their own row alone",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  HeadCase head = plain_case(3, vocabulary, 24, 44);
  head.options.block_tokens = 4096;
  head.temperature = {1.0f, 0.8f, 0.0f};
  const HeadResults sound = DeviceHead<OnSpace>(head).stream();
  HeadCase hot = head;
  hot.temperature[1] = -1.0f;
  check_row_one(DeviceHead<OnSpace>(hot).stream(), sound, RowStatus::invalid_parameter);
  HeadCase unsure = head;
  unsure.uniforms[1] = std::nanf("");
  check_row_one(DeviceHead<OnSpace>(unsure).stream(), sound, RowStatus::invalid_parameter);
  CHECK(DeviceHead<OnSpace>(unsure).stream() == DeviceHead<OnSpace>(unsure).whole());
}

TEMPLATE_LIST_TEST_CASE("edits and given tokens that are out of range are flagged in every block",
                        "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  HeadCase head = full_case(3, vocabulary, 24, 45);
  head.options.block_tokens = 4096;
  const HeadCase sound = head;
  head.edits.push_back({0, vocabulary, 1.0f});          // past the vocabulary
  head.edits.push_back({1, -3, 0.0f, 1});               // before it
  head.edits.push_back({2, vocabulary - 1, 0.0f, -7});  // no count, past the active ones
  HeadCase biased = sound;
  for (const std::int32_t row : {0, 1, 2}) {  // the bias of a penalized one, past the active ones
    const auto token = static_cast<std::int32_t>(vocabulary - 1 - row);
    biased.edits.push_back({row, token, std::numeric_limits<float>::infinity(), 1});
  }
  const HeadResults of_biased = DeviceHead<OnSpace>(biased).stream();
  for (const auto status : of_biased.status) CHECK(status == RowStatus::invalid_edit);
  CHECK(of_biased == DeviceHead<OnSpace>(biased).whole());
  const HeadResults results = DeviceHead<OnSpace>(head).stream();
  for (const auto status : results.status) CHECK(status == RowStatus::invalid_edit);
  CHECK(results == DeviceHead<OnSpace>(head).whole());
  HeadResults unflagged = results;
  unflagged.status = {0, 0, 0};
  CHECK(unflagged == DeviceHead<OnSpace>(sound).stream());
  head = sound;
  head.given[4] = vocabulary;
  CHECK(DeviceHead<OnSpace>(head).stream().status ==
        std::vector<std::int32_t>{0, RowStatus::invalid_draft, 0});
  CHECK(DeviceHead<OnSpace>(head).stream() == DeviceHead<OnSpace>(head).whole());
}

TEMPLATE_LIST_TEST_CASE("a mask row out of range ends its own row", "[lm_head]", ExecutionSpaces) {
  using OnSpace = Backend<TestType, float>;
  HeadCase head = full_case(3, vocabulary, 24, 46);
  head.options.block_tokens = 4096;
  const HeadResults sound = DeviceHead<OnSpace>(head).stream();
  head.mask_index[1] = 9;
  check_row_one(DeviceHead<OnSpace>(head).stream(), sound, RowStatus::invalid_parameter);
}
