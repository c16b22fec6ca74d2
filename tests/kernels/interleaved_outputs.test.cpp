// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Outputs may lie between the rows of what is read, where no byte belongs to both.
#include <tokkos/kernels/argmax.hpp>
#include <tokkos/kernels/draw.hpp>
#include <tokkos/kernels/log_sum_exp.hpp>
#include <tokkos/kernels/measure.hpp>
#include <tokkos/kernels/normalize.hpp>
#include <tokkos/kernels/workspace.hpp>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/overlap_arguments.hpp"
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

constexpr std::size_t rows = overlap_rows, vocabulary = overlap_vocabulary;

}  // namespace

TEMPLATE_LIST_TEST_CASE("columns of one array are apart", "", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  OverlapArguments<TestType> a;
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
    const auto out = columns(narrow, first, stride);
    const Complaint error = error_of([&] { softmax_of(narrow, out); });
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
  OverlapArguments<TestType> a;
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
