// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Views that say that they have elements, and have no memory; masks of which a part is left out.
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/measure.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/refusal.hpp"
#include "engine/result_bits.hpp"
#include "kernels/guarded.hpp"

namespace tokkos::test {
namespace {

constexpr std::size_t rows = 3, columns = 70;

/// Good edits, mask and temperatures of three rows.
template <class Space>
struct RowBench {
  using Memory = MemoryOf<Space>;
  using Ints = std::vector<std::int32_t>;

  Space space;
  std::vector<float> values = std::vector<float>(rows * columns, 0.375f);
  std::vector<std::int32_t> words_on_host = std::vector<std::int32_t>(rows * 3, 0x0F0F0F0F);
  Guarded<float, Memory> logits{rows, columns, 3, values};
  Guarded<std::int32_t, Memory> status{rows};
  Guarded<std::int32_t, Memory> numbers{Ints{0, 1, 2}}, counts{Ints{1, 7, 2}};
  Guarded<float, Memory> floats{std::vector<float>{1.0f, 2.0f, 0.5f}};
  Guarded<float, Memory> penalties{3, 3, 1, std::vector<float>(9, 0.5f)};
  Guarded<std::int32_t, Memory> words{rows, 3, 2, words_on_host};
  Workspace<Memory> workspace{rows, columns};

  LogitBiasEdits<Memory> biases{numbers.vector(), numbers.vector(), floats.vector()};
  PenaltyEdits<Memory> penalized = good_penalties();
  VocabularyBitmask<Memory> bitmask{words.matrix(), numbers.vector()};
  Vector<const float, Memory> temperature = floats.vector();
  Vector<const std::int32_t, Memory> row_index;

  PenaltyEdits<Memory> good_penalties() const {
    PenaltyEdits<Memory> edits;
    edits.seq_ids = edits.pos2seq_id = edits.token_ids = edits.policies = numbers.vector();
    edits.token_cnt = counts.vector();
    edits.penalties = penalties.matrix();
    edits.biases = floats.vector();
    return edits;
  }

  void edit() { apply_edits(space, logits.matrix(), biases, penalized, status.vector()); }
  void measure_rows() {
    LogitRows<float, Memory> given;
    given.logits = logits.matrix();
    given.temperature = temperature;
    given.bitmask = bitmask;
    given.row_index = row_index;
    measure(space, given, workspace.measures(rows), status.vector());
  }
  void mask() {
    apply_bitmask_inplace(space, logits.matrix(), numbers.vector(), numbers.vector(), bitmask.words,
                          {}, status.vector());
  }

  /// Sees the call refused, with nothing written, while `view` is `bad`.
  template <class View, class Bad, class Call>
  void refuses(const Blame& blame, View& view, const Bad& bad, Call call) {
    const View good = view;
    const Bits before = bits();
    view = bad;
    expect_refusal(blame, [&] { (this->*call)(); });
    view = good;
    space.fence("tokkos::test::refused");
    CHECK(bits() == before);
  }

  Bits bits() {
    Bits all;
    append(all, logits.values());
    append(all, status.values());
    CHECK((logits.guards_intact() && status.guards_intact()));
    return all;
  }
};

template <class T, class Memory>
Vector<T, Memory> null_vector(std::size_t extent) {
  return vector_of<T, Memory>(nullptr, extent);
}
template <class T, class Memory>
Matrix<T, Memory> null_matrix(std::size_t height, std::size_t width) {
  return Matrix<T, Memory>(nullptr, Kokkos::LayoutStride(height, width, width, 1));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("arrays of edits without memory are refused", "[row-56]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  using Bench = RowBench<TestType>;
  Bench bench;
  const auto refuses = [&](const std::string& field, auto& view) {
    using View = std::remove_reference_t<decltype(view)>;
    using T = typename View::value_type;
    bench.refuses({field + ".data", {}, "null"}, view, null_vector<T, Memory>(rows), &Bench::edit);
  };
  refuses("biases.token_ids", bench.biases.token_ids);
  refuses("biases.pos2seq_id", bench.biases.pos2seq_id);
  refuses("biases.logit_bias", bench.biases.logit_bias);
  refuses("penalties.seq_ids", bench.penalized.seq_ids);
  refuses("penalties.pos2seq_id", bench.penalized.pos2seq_id);
  refuses("penalties.token_ids", bench.penalized.token_ids);
  refuses("penalties.token_cnt", bench.penalized.token_cnt);
  refuses("penalties.biases", bench.penalized.biases);
  refuses("penalties.policies", bench.penalized.policies);
  bench.refuses({"penalties.penalties.data", {}, "null"}, bench.penalized.penalties,
                null_matrix<const float, Memory>(rows, 3), &Bench::edit);
  bench.edit();  // all is good again
  bench.space.fence("tokkos::test::edited");
  CHECK(bench.status.values() == std::vector<std::int32_t>(rows, 0));
}

TEMPLATE_LIST_TEST_CASE("logits without memory are refused, however many they claim to be",
                        "[row-56]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  RowBench<TestType> bench;
  LogitRows<float, Memory> given;
  given.temperature = vector_of<const float, Memory>(bench.floats.vector().data(), 1);
  for (const std::size_t height : {std::size_t{1}, std::size_t{1} << 31, std::size_t{1} << 50}) {
    given.logits = null_matrix<const float, Memory>(height, 1 << 14);  // 2^50 rows: 2^64 logits
    expect_refusal({"logits.data", {}, "null"}, [&] {
      measure(bench.space, given, bench.workspace.measures(rows), bench.status.vector());
    });
  }
}

TEMPLATE_LIST_TEST_CASE("a mask of which a part is missing is refused", "[row-56]",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  using Bench = RowBench<TestType>;
  using Words = Matrix<const std::int32_t, Memory>;
  Bench bench;
  bench.refuses({"bitmask.data", {}, "null"}, bench.bitmask.words,
                null_matrix<const std::int32_t, Memory>(rows, 3), &Bench::measure_rows);
  bench.refuses({"bitmask.data", {}, "null"}, bench.bitmask.words,
                null_matrix<const std::int32_t, Memory>(rows, 3), &Bench::mask);
  bench.refuses({"bitmask.extent", 1, "0"}, bench.bitmask.words, Words(), &Bench::measure_rows);
  bench.refuses({"bitmask.extent", 1, "2"}, bench.bitmask.words,
                Words(bench.words.matrix().data(), Kokkos::LayoutStride(rows, 5, 2, 1)),
                &Bench::measure_rows);
  bench.refuses({"bitmask.row_index.data", {}, "null"}, bench.bitmask.row_index,
                null_vector<const std::int32_t, Memory>(rows), &Bench::measure_rows);
  for (const std::size_t words : {std::size_t{3}, std::size_t{4}, std::size_t{100}}) {  // of no row
    bench.refuses({"bitmask.extent", 0, "0"}, bench.bitmask.words,
                  null_matrix<const std::int32_t, Memory>(0, words), &Bench::measure_rows);
  }
  bench.bitmask.row_index = {};
  bench.refuses({"bitmask.extent", 0, "2"}, bench.bitmask.words,
                Words(bench.words.matrix().data(), Kokkos::LayoutStride(2, 5, 3, 1)),
                &Bench::measure_rows);
  for (const std::size_t extent : {std::size_t{1}, rows}) {
    bench.refuses({"temperature.data", {}, "null"}, bench.temperature,
                  null_vector<const float, Memory>(extent), &Bench::measure_rows);
  }
  bench.refuses({"row_index.data", {}, "null"}, bench.row_index,
                null_vector<const std::int32_t, Memory>(rows), &Bench::measure_rows);
  bench.measure_rows();
  bench.bitmask = {};  // left out as a whole: everything is allowed
  bench.measure_rows();
  bench.space.fence("tokkos::test::measured");
  CHECK(bench.status.values() == std::vector<std::int32_t>(rows, 0));
}

}  // namespace tokkos::test
