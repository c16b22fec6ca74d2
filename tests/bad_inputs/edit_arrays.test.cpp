// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Edits that are given as arrays: the checked variants refuse what the seed's arrays may hold
// wrong.
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_logit_bias.hpp>
#include <tokkos/kernels/apply_penalty.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/refusal.hpp"
#include "engine/result_bits.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();
constexpr std::size_t rows = 4, columns = 70;

/// Logits between guards, and arrays of edits that start out right.
template <class Space>
struct EditBench {
  using Memory = MemoryOf<Space>;
  using Ints = std::vector<std::int32_t>;

  Ints bias_rows{0, 2, 3}, bias_tokens{1, 69, 5};
  std::vector<float> biases{1.0f, -infinity, -0.5f};
  Ints seq_ids{3, 1}, positions{0, 1, 1}, tokens{5, 5, 6}, counts{1, 7, 2};
  std::vector<float> penalties{0.5f, 0.25f, 1.1f, -0.5f, 0.0f, 0.9f};
  Ints masked{0, 3}, mask_rows{1, 0};
  std::size_t token_stride = 1;

  Space space;
  std::vector<float> values = std::vector<float>(rows * columns, 0.375f);
  Guarded<float, Memory> logits{rows, columns, 3, values};
  std::vector<std::int32_t> words_on_host = std::vector<std::int32_t>(2 * 3, 0x0F0F0F0F);
  Guarded<std::int32_t, Memory> words{2, 3, 2, words_on_host};
  Guarded<std::int32_t, Memory> status{rows};

  void bias() {
    const Guarded<std::int32_t, Memory> r(bias_rows), t(bias_tokens);
    const Guarded<float, Memory> b(biases);
    const Vector<const std::int32_t, Memory> ids(
        t.vector().data(), Kokkos::LayoutStride(bias_tokens.size(), token_stride));
    apply_logit_bias_inplace_checked(space, logits.matrix(), r.vector(), ids, b.vector(),
                                     status.vector());
    space.fence("tokkos::test::biased");
  }
  void penalize() {
    const Guarded<std::int32_t, Memory> s(seq_ids), p(positions), t(tokens), c(counts);
    const Guarded<float, Memory> numbers(seq_ids.size(), 3, 1, penalties);
    apply_penalty_inplace_checked(space, logits.matrix(), s.vector(), p.vector(), t.vector(),
                                  c.vector(), numbers.matrix(), status.vector());
    space.fence("tokkos::test::penalized");
  }
  void mask() {
    const Guarded<std::int32_t, Memory> s(masked), m(mask_rows);
    apply_bitmask_inplace_checked(space, logits.matrix(), s.vector(), m.vector(), words.matrix(),
                                  {}, status.vector());
    space.fence("tokkos::test::masked");
  }

  /// Spoils an entry, sees it blamed by `apply` and nothing written, and puts it right again.
  template <class T, class Apply>
  void refuses(const Blame& blame, T& entry, T value, Apply apply) {
    const T right = entry;
    entry = value;
    const Bits before = bits();
    expect_refusal(blame, [&] { (this->*apply)(); });
    CHECK(bits() == before);
    entry = right;
    works(apply);
  }

  /// Whether the right arrays are taken and change something.
  template <class Apply>
  void works(Apply apply) {
    const Bits before = bits();
    CHECK_NOTHROW((this->*apply)());
    CHECK(bits() != before);
    logits = Guarded<float, Memory>(rows, columns, 3, values);
  }

  Bits bits() {
    Bits all;
    append(all, logits.values());
    append(all, status.values());
    CHECK((logits.guards_intact() && status.guards_intact()));
    return all;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a bias's token is one of the row", "[row-01]", ExecutionSpaces) {
  EditBench<TestType> bench;
  for (const std::int32_t token : {-1, 70, 71, largest, smallest}) {
    bench.refuses({"token_ids", 1, to_text(token)}, bench.bias_tokens[1], token,
                  &EditBench<TestType>::bias);
  }
}

TEMPLATE_LIST_TEST_CASE("arrays with gaps are refused by the checked variants", "[row-56]",
                        ExecutionSpaces) {
  EditBench<TestType> bench;
  for (const std::size_t stride : {std::size_t{2}, std::size_t{7}, std::size_t{0}}) {
    bench.refuses({"token_ids.stride", 0, std::to_string(stride)}, bench.token_stride, stride,
                  &EditBench<TestType>::bias);
  }
}

TEMPLATE_LIST_TEST_CASE("no edits are legal for the checked variants", "[row-54]",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  EditBench<TestType> bench;
  const Vector<const std::int32_t, Memory> numbers;
  const Vector<const float, Memory> floats;
  const Bits before = bench.bits();
  CHECK_NOTHROW(apply_logit_bias_inplace_checked(bench.space, bench.logits.matrix(), numbers,
                                                 numbers, floats));
  CHECK_NOTHROW(apply_penalty_inplace_checked(bench.space, bench.logits.matrix(), numbers, numbers,
                                              numbers, numbers, Matrix<const float, Memory>()));
  bench.space.fence("tokkos::test::edited");
  CHECK(bench.bits() == before);
}

TEMPLATE_LIST_TEST_CASE("a bias in an array is neither NaN nor plus infinity", "[row-02][row-03]",
                        ExecutionSpaces) {
  EditBench<TestType> bench;
  for (const float b : {not_a_number, -not_a_number, infinity}) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{2}}) {
      bench.refuses({"logit_bias", static_cast<std::int64_t>(place), to_text(b)},
                    bench.biases[place], b, &EditBench<TestType>::bias);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a bias's row is one of the logits", "[row-07]", ExecutionSpaces) {
  EditBench<TestType> bench;
  for (const std::int32_t row : {-1, 4, 5, largest, smallest}) {
    bench.refuses({"pos2seq_id", 2, to_text(row)}, bench.bias_rows[2], row,
                  &EditBench<TestType>::bias);
  }
}

TEMPLATE_LIST_TEST_CASE("one bias for a row and token", "[row-06]", ExecutionSpaces) {
  EditBench<TestType> bench;
  bench.bias_tokens = {5, 5, 5};
  for (const std::int32_t row : {0, 2}) {
    bench.refuses({"token_ids", 2, "a second entry for row " + to_text(row) + ", token 5"},
                  bench.bias_rows[2], row, &EditBench<TestType>::bias);
  }
  bench.refuses({"token_ids", 1, "a second entry for row 0, token 5"}, bench.bias_rows[1], 0,
                &EditBench<TestType>::bias);
}

TEMPLATE_LIST_TEST_CASE("one penalty entry for a row and token", "[row-10]", ExecutionSpaces) {
  EditBench<TestType> bench;
  bench.refuses({"token_ids", 2, "a second entry for row 1, token 5"}, bench.tokens[2], 5,
                &EditBench<TestType>::penalize);
  bench.refuses({"token_ids", 1, "a second entry for row 3, token 5"}, bench.positions[1], 0,
                &EditBench<TestType>::penalize);
  bench.tokens = {6, 5, 6};
  bench.refuses({"token_ids", 2, "a second entry for row 1, token 6"}, bench.positions[0], 1,
                &EditBench<TestType>::penalize);
  for (const std::int32_t token : {-1, 70, largest}) {
    bench.refuses({"token_ids", 0, to_text(token)}, bench.tokens[0], token,
                  &EditBench<TestType>::penalize);
  }
  for (const std::int32_t position : {-1, 2, smallest}) {
    bench.refuses({"pos2seq_id", 1, to_text(position)}, bench.positions[1], position,
                  &EditBench<TestType>::penalize);
  }
}

TEMPLATE_LIST_TEST_CASE("a count of tokens is 1 or more", "[row-11]", ExecutionSpaces) {
  EditBench<TestType> bench;
  for (const std::int32_t count : {0, -1, smallest}) {
    bench.refuses({"token_cnt", 1, to_text(count)}, bench.counts[1], count,
                  &EditBench<TestType>::penalize);
  }
}

TEMPLATE_LIST_TEST_CASE("penalties in an array are finite, the repetition penalty above 0",
                        "[row-13][row-14]", ExecutionSpaces) {
  EditBench<TestType> bench;
  for (const float p : {not_a_number, infinity, -infinity}) {
    bench.refuses({"penalties.presence", 0, to_text(p)}, bench.penalties[0], p,
                  &EditBench<TestType>::penalize);
    bench.refuses({"penalties.frequency", 1, to_text(p)}, bench.penalties[4], p,
                  &EditBench<TestType>::penalize);
    bench.refuses({"penalties.repetition", 1, to_text(p)}, bench.penalties[5], p,
                  &EditBench<TestType>::penalize);
  }
  for (const float r : {0.0f, -0.0f, -1.0f}) {
    bench.refuses({"penalties.repetition", 0, to_text(r)}, bench.penalties[2], r,
                  &EditBench<TestType>::penalize);
  }
}

TEMPLATE_LIST_TEST_CASE("one group of penalties for a row", "[row-17]", ExecutionSpaces) {
  EditBench<TestType> bench;
  bench.refuses({"seq_ids", 1, "a second entry for row 3"}, bench.seq_ids[1], 3,
                &EditBench<TestType>::penalize);
  bench.refuses({"seq_ids", 1, "a second entry for row 1"}, bench.seq_ids[0], 1,
                &EditBench<TestType>::penalize);
  bench.seq_ids = {0, 2};
  bench.refuses({"seq_ids", 1, "a second entry for row 2"}, bench.seq_ids[0], 2,
                &EditBench<TestType>::penalize);
  for (const std::int32_t row : {-1, 4, largest}) {
    bench.refuses({"seq_ids", 0, to_text(row)}, bench.seq_ids[0], row,
                  &EditBench<TestType>::penalize);
  }
}

TEMPLATE_LIST_TEST_CASE("a bitmask with too few words is refused, the rest is never allowed",
                        "[row-18]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  EditBench<TestType> bench;
  const std::vector<std::int32_t> ones(8, -1);
  for (const std::size_t width : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    const Guarded<std::int32_t, Memory> words(2, width, 1, std::span(ones).first(2 * width));
    const Guarded<std::int32_t, Memory> listed(bench.masked), in_mask(bench.mask_rows);
    const Bits before = bench.bits();
    expect_refusal({"bitmask.extent", 1, std::to_string(width)}, [&] {
      apply_bitmask_inplace(bench.space, bench.logits.matrix(), listed.vector(), in_mask.vector(),
                            words.matrix(), {}, bench.status.vector());
    });
    expect_refusal({"bitmask.extent", 1, std::to_string(width)}, [&] {
      apply_bitmask_inplace_checked(bench.space, bench.logits.matrix(), listed.vector(),
                                    in_mask.vector(), words.matrix(), {}, bench.status.vector());
    });
    bench.space.fence("tokkos::test::refused");
    CHECK(bench.bits() == before);
    bench.works(&EditBench<TestType>::mask);
  }
}

TEMPLATE_LIST_TEST_CASE("masked rows are rows of the logits, each once", "[row-21]",
                        ExecutionSpaces) {
  EditBench<TestType> bench;
  for (const std::int32_t row : {-1, 4, 5, largest, smallest}) {
    bench.refuses({"seq_ids", 1, to_text(row)}, bench.masked[1], row, &EditBench<TestType>::mask);
  }
  for (const std::int32_t row : {-1, 2, smallest}) {
    bench.refuses({"mask_rows", 0, to_text(row)}, bench.mask_rows[0], row,
                  &EditBench<TestType>::mask);
  }
  bench.refuses({"seq_ids", 1, "a second entry for row 0"}, bench.masked[1], 0,
                &EditBench<TestType>::mask);
  bench.refuses({"seq_ids", 1, "a second entry for row 3"}, bench.masked[0], 3,
                &EditBench<TestType>::mask);
}

}  // namespace tokkos::test
