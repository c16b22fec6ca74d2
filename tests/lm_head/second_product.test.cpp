// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// A piece whose logits came out otherwise than when they were measured, as they may where a
// library's product depends on its shape. No product that is built here does: its place is taken by
// numbers that are given.
#include "backends.hpp"
#include "kernels/logit_block.hpp"
#include "lm_head/draw_chosen.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace tokkos::test;
using namespace tokkos;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t vocabulary = 8192, piece = 4096 + 512, one = std::int64_t{1} << 44;
constexpr std::int32_t first_allowed = 4648, second_allowed = 4700;

struct Drawn {
  TokenId token;
  float logprob;
  std::int32_t status;
};

/// The draw at half of a piece in which two tokens are allowed, whose maximum was 0 and whose mass
/// 1, from other logits for them.
template <class Space>
Drawn drawn_from(float first, float second, float temperature) {
  using Memory = MemoryOf<Space>;
  std::vector<float> block(4096, 5.0f);  // what is masked may be anything
  block[first_allowed - piece] = first;
  block[second_allowed - piece] = second;
  std::vector<std::int32_t> words(vocabulary / 32, 0);
  for (const std::int32_t token : {first_allowed, second_allowed}) {
    words[token / 32] |= std::int32_t{1} << (token % 32);
  }
  const auto logits = on_device<Memory>(block, 4096, 0, 0.0f);
  const auto mask = on_device<Memory>(words, vocabulary / 32, 0, 0);
  const auto chunk_maximum = on_device<Memory>(std::vector<float>{0.0f, 0.0f}, 2, 0, 0.0f);
  const auto chunk_sum =
      on_device<Memory>(std::vector<std::int64_t>{0, one}, 2, 0, std::int64_t{0});
  const auto row_maximum = on_device<Memory>(std::vector<float>{0.0f});
  const auto row_mass = on_device<Memory>(std::vector<std::int64_t>{one});
  const auto temperatures = on_device<Memory>(std::vector<float>{temperature});
  const auto number = [](std::int64_t value) {
    return on_device<Memory>(std::vector<std::int64_t>{value});
  };
  const auto start = number(piece), rest = number(one / 2), mass = number(one), before = number(0),
             sum = number(one);
  const Kokkos::View<TokenId*, Memory> tokens("tokens", 1);
  const Kokkos::View<float*, Memory> logprobs("logprobs", 1);
  const Kokkos::View<std::int32_t*, Memory> status("status", 1);

  LogitRows<float, Memory> rows;
  rows.logits = Matrix<const float, Memory>(
      nullptr, Kokkos::LayoutStride(1, vocabulary, static_cast<std::size_t>(vocabulary), 1));
  rows.temperature = temperatures;
  rows.bitmask.words = mask;
  rows.active_vocabulary = vocabulary;
  LmHeadOutputs<Memory> outputs;
  outputs.tokens = tokens;
  outputs.token_logprobs = logprobs;
  outputs.row_status = status;
  const Space space;
  draw_chosen<Space>(space, rows, {chunk_maximum, chunk_sum, row_maximum, row_mass},
                     {start, rest, mass, before, sum}, {logits, vocabulary}, outputs);
  space.fence("tokkos::test::drawn");
  return {on_host(tokens)[0], on_host(logprobs)[0], on_host(status)[0]};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("what a second product gives otherwise draws an allowed token", "[lm_head]",
                        ExecutionSpaces) {
  struct Case {
    float first, second;
    TokenId token;
    float logprob;
  };
  const float nan = std::nanf("");
  // As it was measured; less mass than was drawn; more than the maximum; no number at all.
  for (const Case& c :
       {Case{-30.0f, 0.0f, second_allowed, 0.0f}, Case{-3.0f, -1.0f, second_allowed, -1.0f},
        Case{-2.0f, -2.0f, first_allowed, -2.0f}, Case{0.25f, -1.0f, first_allowed, 0.0f},
        Case{infinity, -1.0f, first_allowed, 0.0f}, Case{nan, -1.0f, second_allowed, -1.0f},
        Case{-infinity, -infinity, -1, -infinity}, Case{nan, nan, -1, -infinity}}) {
    CAPTURE(c.first, c.second);
    const Drawn drawn = drawn_from<TestType>(c.first, c.second, 1.0f);
    CHECK(drawn.token == c.token);
    CHECK(drawn.logprob == c.logprob);
    CHECK(drawn.status == (c.token < 0 ? RowStatus::empty : 0));
  }
}

TEMPLATE_LIST_TEST_CASE("a greedy row draws a maximum, whatever a second product gives",
                        "[lm_head]", ExecutionSpaces) {
  for (const float second : {0.0f, -0.001f, 0.001f}) {
    CAPTURE(second);
    const Drawn drawn = drawn_from<TestType>(-7.0f, second, 0.0f);
    CHECK(drawn.token == second_allowed);
    CHECK(drawn.logprob == 0.0f);
  }
}
