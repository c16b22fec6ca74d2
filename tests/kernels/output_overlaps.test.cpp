// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What a kernel writes lies apart from what it reads, and from what else it writes.
#include <tokkos/kernels/apply_bitmask.hpp>
#include <tokkos/kernels/apply_edits.hpp>
#include <tokkos/kernels/chunk_lse.hpp>
#include <tokkos/kernels/draw_tokens.hpp>
#include <tokkos/kernels/log_probabilities.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/normalize_truncated.hpp>
#include <tokkos/kernels/raw_log_probabilities.hpp>
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>
#include <tokkos/kernels/truncate.hpp>
#include <tokkos/kernels/verify_greedy.hpp>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/row_batch.hpp"
#include "reference/random_values.hpp"
#include "request/error_of.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tokkos::test {

namespace {

constexpr std::size_t rows = 4;
constexpr std::size_t vocabulary = 100;

/// Measured rows, memory of every kind for what is made of them, and Views inside it.
template <class ExecutionSpace>
struct Arguments {
  using Memory = MemoryOf<ExecutionSpace>;
  using Ids = Vector<std::int32_t, Memory>;
  ExecutionSpace space;
  RowBatch batch = [] {
    RowBatch four;
    four.vocabulary = vocabulary;
    four.logits = RandomValues(8).logits(rows * vocabulary, 3.0f);
    return four;
  }();
  DeviceRows<Backend<ExecutionSpace, float>> device{batch};
  CutsWorkspace<Memory> cuts_workspace{rows};
  RowCuts<Memory> cuts = cuts_workspace.cuts(rows);
  Guarded<float, Memory> result{rows}, uniforms{rows}, other{rows};
  Guarded<std::int32_t, Memory> tokens{rows}, status{rows}, numbers{rows};
  Guarded<float, Memory> listed{rows, 3, 0, {}}, chunked{rows, 1, 0, {}};
  Guarded<std::int32_t, Memory> listed_tokens{rows, 3, 1, {}}, words{rows, 4, 0, {}};
  Vector<const std::int32_t, Memory> given = numbers.vector();
  Vector<const float, Memory> drawn_by = uniforms.vector();
  LogitBiasEdits<Memory> biases{given, given, drawn_by};
  PenaltyEdits<Memory> penalties;
  Matrix<float, Memory> logits = device.block().logits();

  Arguments() { measure(space, device.rows, device.measures); }

  /// `count` elements that begin at an element of an array.
  template <class T, class U>
  static Vector<T, Memory> at(U* array, std::ptrdiff_t place, std::size_t count = rows) {
    return vector_of<T, Memory>(reinterpret_cast<T*>(array + place), count);
  }
  Ids ids_in_logits(std::ptrdiff_t place) const { return at<std::int32_t>(logits.data(), place); }
  Vector<float, Memory> in_logits(std::ptrdiff_t place) const {
    return at<float>(logits.data(), place);
  }
  template <class T>
  Matrix<T, Memory> list_in_logits(std::ptrdiff_t place) const {
    return Matrix<T, Memory>(reinterpret_cast<T*>(logits.data() + place),
                             Kokkos::LayoutStride(rows, 3, 3, 1));
  }
  Matrix<const float, Memory> uniform_lists() const { return listed.matrix(); }

  /// "field: value" of what the call is refused with.
  template <class Call>
  std::string refusal(const Call& call) const {
    const Complaint error = error_of(call);
    CHECK(error.expected == "separate memory");
    return error.field + ": " + error.value;
  }

  /// Everything that a refused call might have written.
  auto memory() {
    space.fence("tokkos::test::memory");
    return std::tuple(device.block().patterns(), on_host(device.measures.row_mass),
                      on_host(device.measures.row_maximum), result.values(), uniforms.values(),
                      tokens.values(), status.values(), numbers.values(), listed.values(),
                      listed_tokens.values(), words.values());
  }
};

const std::string in_logits = ": a View that overlaps the logits";

}  // namespace

TEMPLATE_LIST_TEST_CASE("what is measured or drawn does not lie in what is read", "",
                        ExecutionSpaces) {
  Arguments<TestType> a;
  const auto& space = a.space;
  const auto& rows_given = a.device.rows;
  const auto& measures = a.device.measures;
  const auto before = a.memory();
  const auto refused = [&](const auto& call) { return a.refusal(call); };

  auto bad = measures;
  bad.row_maximum = a.in_logits(7);
  CHECK(refused([&] { measure(space, rows_given, bad); }) == "measures.row_maximum" + in_logits);
  CHECK(refused([&] { measure(space, rows_given, measures, a.ids_in_logits(-1)); }) ==
        "row_status" + in_logits);
  CHECK(refused([&] {
          measure(space, rows_given, measures,
                  a.template at<std::int32_t>(measures.row_mass.data(), 1));
        }) == "measures.row_mass: a View that overlaps row_status");

  CHECK(refused([&] { argmax(space, rows_given, measures, a.ids_in_logits(399)); }) ==
        "tokens" + in_logits);
  const auto draw_into = [&](const auto& tokens, const auto& status) {
    return refused([&] { draw(space, rows_given, measures, a.drawn_by, tokens, status); });
  };
  CHECK(draw_into(a.ids_in_logits(0), a.status.vector()) == "tokens" + in_logits);
  CHECK(draw_into(a.tokens.vector(), a.ids_in_logits(200)) == "row_status" + in_logits);
  CHECK(draw_into(a.tokens.vector(), a.tokens.vector()) ==
        "tokens: a View that overlaps row_status");
  CHECK(draw_into(a.template at<std::int32_t>(a.uniforms.vector().data(), 3), a.status.vector()) ==
        "tokens: a View that overlaps uniforms");
  CHECK(draw_into(a.template at<std::int32_t>(measures.row_maximum.data(), 0), a.status.vector()) ==
        "tokens: a View that overlaps measures.row_maximum");
  CHECK(refused([&] {
          draw_tokens(space, rows_given, measures, a.uniform_lists(),
                      a.template list_in_logits<std::int32_t>(390));
        }) == "tokens" + in_logits);
  CHECK(refused([&] {
          sample_from_probabilities(space, Matrix<const float, MemoryOf<TestType>>(a.logits),
                                    a.drawn_by, a.ids_in_logits(9));
        }) == "tokens: a View that overlaps the probabilities");
  CHECK(refused([&] {
          GreedyTrees<MemoryOf<TestType>> trees{a.tokens.vector(), a.ids_in_logits(5), {}};
          TokenTrees<MemoryOf<TestType>> chains;
          chains.parent_ptr = a.status.vector();
          chains.nodes_per_tree = 1;
          verify_greedy(space, rows_given, a.given, chains, trees);
        }) == "bonus_tokens" + in_logits);

  CHECK(a.memory() == before);
  draw(space, rows_given, measures, a.drawn_by, a.tokens.vector(), a.status.vector());
  argmax(space, rows_given, measures, a.numbers.vector());
  space.fence("tokkos::test::drawn");
  CHECK(a.numbers.values() != std::get<7>(before));
  CHECK((a.tokens.guards_intact() && a.numbers.guards_intact()));
}

TEMPLATE_LIST_TEST_CASE("logarithms and cuts do not lie in what is read", "", ExecutionSpaces) {
  Arguments<TestType> a;
  const auto& space = a.space;
  const auto& rows_given = a.device.rows;
  const auto& measures = a.device.measures;
  const auto before = a.memory();
  const auto refused = [&](const auto& call) { return a.refusal(call); };

  CHECK(refused([&] { log_sum_exp(space, rows_given, measures, a.in_logits(1)); }) ==
        "result" + in_logits);
  const auto score_into = [&](const auto& result, const auto& status) {
    return refused(
        [&] { log_probabilities(space, rows_given, measures, a.given, result, {}, status); });
  };
  CHECK(score_into(a.in_logits(97), a.status.vector()) == "result" + in_logits);
  CHECK(score_into(a.result.vector(), a.ids_in_logits(0)) == "row_status" + in_logits);
  CHECK(score_into(a.template at<float>(a.numbers.vector().data(), 0), a.status.vector()) ==
        "result: a View that overlaps tokens");
  const auto list_into = [&](const auto& tokens, const auto& result) {
    return refused([&] { top_log_probabilities(space, rows_given, measures, tokens, result); });
  };
  const auto tokens = a.listed_tokens.matrix();
  CHECK(list_into(a.template list_in_logits<std::int32_t>(0), a.listed.matrix()) ==
        "tokens" + in_logits);
  CHECK(list_into(tokens, a.template list_in_logits<float>(17)) == "result" + in_logits);
  const Matrix<float, MemoryOf<TestType>> over_tokens(reinterpret_cast<float*>(tokens.data() + 2),
                                                      Kokkos::LayoutStride(rows, 4, 3, 1));
  CHECK(list_into(tokens, over_tokens) == "tokens: a View that overlaps result");

  auto cuts = a.cuts;
  cuts.logit = a.in_logits(50);
  CHECK(refused([&] { truncate(space, rows_given, measures, {}, cuts); }) ==
        "cuts.logit" + in_logits);
  cuts = a.cuts;
  cuts.count = cuts.token;
  CHECK(refused([&] { truncate(space, rows_given, measures, {}, cuts); }) ==
        "cuts.token: a View that overlaps cuts.count");

  const Matrix<const float, MemoryOf<TestType>> logits = a.logits;
  CHECK(refused([&] {
          save_edited_logits(space, logits, a.biases, a.penalties, a.in_logits(2));
        }) == "saved" + in_logits);
  CHECK(refused([&] {
          save_edited_logits(space, logits, a.biases, a.penalties, a.uniforms.vector());
        }) == "saved: a View that overlaps logit_bias");
  const auto score_raw = [&](const auto& result) {
    const Vector<const float, MemoryOf<TestType>> saved = a.other.vector();
    raw_log_probabilities(space, rows_given, measures, a.biases, a.penalties, saved, a.given,
                          result);
  };
  CHECK(refused([&] { score_raw(a.in_logits(2)); }) == "result" + in_logits);
  CHECK(refused([&] { score_raw(a.other.vector()); }) == "result: a View that overlaps saved");

  CHECK(a.memory() == before);
  log_probabilities(space, rows_given, measures, a.given, a.result.vector());
  truncate(space, rows_given, measures, {}, a.cuts);
  space.fence("tokkos::test::scored");
  CHECK(a.result.values() != std::get<3>(before));
}

TEMPLATE_LIST_TEST_CASE("probabilities, stages and status do not lie in what is read", "",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  Arguments<TestType> a;
  const auto& space = a.space;
  const auto& rows_given = a.device.rows;
  const auto before = a.memory();
  const auto& probabilities = a.device.probabilities;
  const auto refused = [&](const auto& call) { return a.refusal(call); };

  auto measures = a.device.measures;
  measures.row_mass = a.template at<std::int64_t>(probabilities.data(), 2);
  CHECK(refused([&] { normalize(space, rows_given, measures, probabilities); }) ==
        "probabilities: a View that overlaps measures.row_mass");
  CHECK(refused([&] { normalize_truncated(space, rows_given, measures, a.cuts, probabilities); }) ==
        "probabilities: a View that overlaps measures.row_mass");
  CHECK(refused([&] { softmax(space, rows_given, measures, probabilities); }) ==
        "measures.row_mass: a View that overlaps probabilities");
  const auto softmax_with = [&](const auto& status) {
    return refused([&] { softmax(space, rows_given, a.device.measures, probabilities, status); });
  };
  CHECK(softmax_with(a.ids_in_logits(12)) == "row_status" + in_logits);
  CHECK(softmax_with(a.template at<std::int32_t>(probabilities.data(), 12)) ==
        "row_status: a View that overlaps probabilities");

  const Matrix<float, Memory> stage_in_logits(a.logits.data(), Kokkos::LayoutStride(rows, 1, 1, 1));
  const auto chunked = a.chunked.matrix();
  CHECK(refused([&] { chunk_lse(space, rows_given, stage_in_logits, chunked); }) ==
        "chunked_sum" + in_logits);
  CHECK(refused([&] { chunk_lse(space, rows_given, chunked, chunked); }) ==
        "chunked_sum: a View that overlaps chunked_max");
  const Matrix<const float, Memory> stage(probabilities.data(),
                                          Kokkos::LayoutStride(rows, 1, 1, 1));
  CHECK(refused([&] {
          softmax_with_chunked_sum(space, rows_given, stage, stage, probabilities);
        }) == "probabilities: a View that overlaps chunked_sum");

  CHECK(refused([&] { apply_edits(space, a.logits, a.biases, a.penalties, a.ids_in_logits(0)); }) ==
        "row_status" + in_logits);
  CHECK(refused([&] {
          apply_logit_bias_inplace(space, a.logits, a.given, a.given, a.drawn_by,
                                   a.ids_in_logits(1));
        }) == "row_status" + in_logits);
  CHECK(refused([&] {
          apply_bitmask_inplace(space, a.logits, a.given,
                                Matrix<const std::int32_t, Memory>(a.words.matrix()), {},
                                a.ids_in_logits(1));
        }) == "row_status" + in_logits);
  const Matrix<const std::int32_t, Memory> words_in_logits(
      reinterpret_cast<std::int32_t*>(a.logits.data()), Kokkos::LayoutStride(rows, 4, 4, 1));
  CHECK(refused([&] { apply_bitmask_inplace(space, a.logits, a.given, words_in_logits); }) ==
        "logits: a View that overlaps bitmask");

  CHECK(a.memory() == before);
  for (const float p : on_host(a.device.probabilities)) CHECK(p == a.device.canary);
  softmax(space, rows_given, a.device.measures, a.logits);  // exactly in place is legal
  space.fence("tokkos::test::in_place");
  CHECK(a.device.block().patterns() != std::get<0>(before));
}

TEMPLATE_LIST_TEST_CASE("columns of one array are apart", "", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  Arguments<TestType> a;
  Guarded<std::int32_t, Memory> both(rows, 2, 0, {});
  const Vector<std::int32_t, Memory> tokens(both.matrix().data(), Kokkos::LayoutStride(rows, 2)),
      status(both.matrix().data() + 1, Kokkos::LayoutStride(rows, 2));
  draw(a.space, a.device.rows, a.device.measures, a.drawn_by, a.tokens.vector());
  CHECK_NOTHROW(draw(a.space, a.device.rows, a.device.measures, a.drawn_by, tokens, status));
  a.space.fence("tokkos::test::drawn");
  const auto expected = a.tokens.values();
  const auto drawn = both.values();
  for (std::size_t i = 0; i < rows; ++i) CHECK(drawn[2 * i] == expected[i]);
}

TEMPLATE_LIST_TEST_CASE("probabilities may lie beside the logits, as columns of one array", "",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  const TestType space;
  const std::vector<float> values = RandomValues(9).logits(rows * vocabulary, 3.0f);
  std::vector<float> both(rows * 2 * vocabulary, 7.0f);
  for (std::size_t i = 0; i < values.size(); ++i) {
    both[(i / vocabulary) * 2 * vocabulary + i % vocabulary] = values[i];
  }
  const std::vector<float> one{1.0f};
  const Guarded<float, Memory> temperature{std::span(one)};
  const auto columns = [](const Guarded<float, Memory>& array, std::size_t first,
                          std::size_t stride) {
    return Matrix<float, Memory>(array.matrix().data() + first,
                                 Kokkos::LayoutStride(rows, stride, vocabulary, 1));
  };
  Workspace<Memory> workspace(rows, vocabulary);
  const auto softmax_of = [&](const Guarded<float, Memory>& array, const auto& out) {
    LogitRows<float, Memory> given;
    given.logits = columns(array, 0, 2 * vocabulary);
    given.temperature = temperature.vector();
    const auto measures = workspace.measures(rows);
    softmax(space, given, measures, out);
    measure(space, given, measures);
    normalize(space, given, measures, out);
    space.fence("tokkos::test::columns");
  };
  Guarded<float, Memory> wide(rows, 2 * vocabulary, 0, both), apart(rows, vocabulary, 0, {});
  softmax_of(wide, apart.matrix());
  softmax_of(wide, columns(wide, vocabulary, 2 * vocabulary));
  const auto beside = wide.values();
  const auto expected = apart.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = (i / vocabulary) * 2 * vocabulary + i % vocabulary;
    CHECK(beside[place] == values[i]);
    CHECK(beside[place + vocabulary] == expected[i]);
  }
  // One column that is both's, on either side, and rows at another distance.
  Guarded<float, Memory> narrow(rows, 2 * vocabulary, 0, both);
  for (const auto& [first, stride] :
       {std::pair{vocabulary - 1, 2 * vocabulary}, std::pair{vocabulary + 1, 2 * vocabulary},
        std::pair{vocabulary, vocabulary}, std::pair{vocabulary, 2 * vocabulary + 1}}) {
    CAPTURE(first, stride);
    const Complaint error = error_of([&] { softmax_of(narrow, columns(narrow, first, stride)); });
    CHECK(error.field + ": " + error.value == "probabilities" + in_logits);
  }
  CHECK(narrow.values() == both);
}

TEMPLATE_LIST_TEST_CASE("outputs at another distance may lie between the rows of what is read", "",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  constexpr std::size_t padding = 8, stride = vocabulary + padding;
  const TestType space;
  const std::vector<float> values = RandomValues(11).logits(rows * vocabulary, 3.0f);
  std::vector<float> numbers(rows * stride, 7.0f);
  for (std::size_t i = 0; i < values.size(); ++i) {
    numbers[i / vocabulary * stride + i % vocabulary] = values[i];
  }
  Guarded<float, Memory> block(rows, stride, 0, numbers), result(rows / 2);
  const std::vector<float> one{1.0f};
  const Guarded<float, Memory> temperature{std::span(one)};
  float* const data = block.matrix().data();
  LogitRows<float, Memory> given;  // every other row
  given.logits =
      Matrix<const float, Memory>(data, Kokkos::LayoutStride(rows / 2, 2 * stride, vocabulary, 1));
  given.temperature = temperature.vector();
  Workspace<Memory> workspace(rows, vocabulary);
  const auto measures = workspace.measures(rows / 2);
  measure(space, given, measures);
  const auto into = [&](std::size_t first, std::size_t distance) {
    const Vector<float, Memory> sums(data + first, Kokkos::LayoutStride(rows / 2, distance));
    log_sum_exp(space, given, measures, sums);
  };
  const auto refused = [&](std::size_t first, std::size_t distance) {
    const Complaint error = error_of([&] { into(first, distance); });
    CHECK(error.field + ": " + error.value == "result" + in_logits);
  };
  refused(vocabulary, stride + padding);  // the second one is the next row's first logit
  refused(stride - 1, stride + 1);
  refused(vocabulary - 1, stride);
  into(vocabulary, stride);  // behind a row that is read, and behind one that is not
  log_sum_exp(space, given, measures, result.vector());
  space.fence("tokkos::test::between");
  for (std::size_t i = 0; i < rows / 2; ++i) {
    numbers[vocabulary + i * stride] = result.values()[i];
  }
  CHECK(block.values() == numbers);
}

TEMPLATE_LIST_TEST_CASE("outputs of which all rows are one place are refused", "",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  Arguments<TestType> a;
  const auto before = a.memory();
  const auto repeated = [](const auto& vector) {
    return std::remove_cvref_t<decltype(vector)>(vector.data(), Kokkos::LayoutStride(rows, 0));
  };
  const auto refused = [](const auto& call, const std::string& field) {
    const Complaint error = error_of(call);
    CHECK(error.field == field + ".stride");
    CHECK(error.index == 0);
    CHECK(error.value == "0");
  };
  const auto tokens = a.tokens.vector(), status = a.status.vector();
  const auto& rows_given = a.device.rows;
  const auto& measures = a.device.measures;
  refused([&] { argmax(a.space, rows_given, measures, repeated(tokens)); }, "tokens");
  refused([&] { draw(a.space, rows_given, measures, a.drawn_by, tokens, repeated(status)); },
          "row_status");
  refused([&] { log_sum_exp(a.space, rows_given, measures, repeated(a.result.vector())); },
          "result");
  CHECK(a.memory() == before);
  // What is read may be one number for all rows.
  const Vector<const float, Memory> same = repeated(a.uniforms.vector());
  CHECK_NOTHROW(draw(a.space, rows_given, measures, same, tokens, status));
  a.space.fence("tokkos::test::drawn");
}

}  // namespace tokkos::test
