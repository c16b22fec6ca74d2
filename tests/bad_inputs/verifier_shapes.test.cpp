// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Rows of probabilities or logits that do not fit the drafts of a verification.
#include <tokkos/core/error.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/verifier_bench.hpp"

namespace tokkos::test {
namespace {

/// Rows of a matrix that are meant to be [extent0, extent1], and how an error is to call them.
struct Shape {
  Blame blame;
  std::size_t rows, columns, stride, column_stride = 1;
};

/// Shapes that `rows` rows of 20 numbers must not have; `field` is what they are given as.
std::vector<Shape> wrong_shapes(const std::string& field, std::size_t rows) {
  std::vector<Shape> shapes;
  for (const std::size_t height : {rows - 1, rows + 1, std::size_t{1}}) {
    shapes.push_back({{field + ".extent", 0, std::to_string(height)}, height, 20, 20});
  }
  for (const std::size_t width : {0, 1, 19, 21}) {
    shapes.push_back({{field + ".extent", 1, std::to_string(width)}, rows, width, 30});
  }
  constexpr std::size_t far = std::size_t{1} << 60;  // rows that no memory holds
  for (const std::size_t stride : {std::size_t{0}, std::size_t{1}, std::size_t{19}, far}) {
    shapes.push_back({{field + ".stride", 0, std::to_string(stride)}, rows, 20, stride});
  }
  for (const std::size_t step : {0, 2, 30}) {
    shapes.push_back({{field + ".stride", 1, std::to_string(step)}, rows, 20, 20, step});
  }
  return shapes;
}

template <class Memory>
Matrix<const float, Memory> matrix_of(const Shape& shape, const float* data) {
  return Matrix<const float, Memory>(
      data, Kokkos::LayoutStride(shape.rows, shape.stride, shape.columns, shape.column_stride));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("rows of a verification of another shape or stride are refused",
                        "[row-31][row-56]", ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  VerifierBench<TestType> bench;
  const GivenDrafts given;
  const std::vector<DraftTree>& trees = given.trees;
  const Guarded<float, Memory> memory(1000);
  const float* data = memory.vector().data();
  const Matrix<const float, Memory> model = bench.model().matrix(), draft = bench.draft().matrix();
  for (const Shape& shape : wrong_shapes("model_probs", 8)) {
    bench.refuses_call(shape.blame, [&] {
      bench.verifier().verify(matrix_of<Memory>(shape, data),
                              DraftProbabilities<Memory>{draft, given.row_of_node}, trees,
                              given.uniforms);
    });
  }
  for (const Shape& shape : wrong_shapes("draft_probs", 8)) {
    bench.refuses_call(shape.blame, [&] {
      bench.verifier().verify(model, matrix_of<Memory>(shape, data), trees, given.uniforms);
    });
  }
  for (const Shape& shape : wrong_shapes("logits", 8)) {
    bench.refuses_call(shape.blame, [&] {
      bench.verifier().template verify_greedy<float>(matrix_of<Memory>(shape, data), trees);
    });
  }
}

TEMPLATE_LIST_TEST_CASE("rows of a verification without memory are refused", "[row-56]",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  VerifierBench<TestType> bench;
  const GivenDrafts given;
  const Matrix<const float, Memory> model = bench.model().matrix();
  const auto nowhere = matrix_of<Memory>({{}, 8, 20, 20}, nullptr);
  const auto null = [](const char* field) {
    return Blame{std::string(field) + ".data", {}, "null"};
  };
  bench.refuses_call(null("model_probs"), [&] {
    bench.verifier().verify(nowhere, bench.draft().matrix(), given.trees, given.uniforms);
  });
  bench.refuses_call(null("draft_probs"),
                     [&] { bench.verifier().verify(model, nowhere, given.trees, given.uniforms); });
  bench.refuses_call(null("logits"),
                     [&] { bench.verifier().template verify_greedy<float>(nowhere, given.trees); });
}

TEMPLATE_LIST_TEST_CASE("a verification's lists have one entry for each node or request",
                        "[row-31]", ExecutionSpaces) {
  VerifierBench<TestType> bench;
  for (const std::size_t size : {1, 7, 9}) {
    const std::string value = std::to_string(size);
    bench.refuses({"row_of_node.size", {}, value},
                  [=](GivenDrafts& g) { g.row_of_node.resize(size, -1); });
    bench.refuses({"uniforms.nodes.size", {}, value},
                  [=](GivenDrafts& g) { g.uniforms.nodes.resize(size, 0.5f); });
  }
  for (const std::size_t size : {1, 2, 4}) {
    const std::string value = std::to_string(size);
    bench.refuses({"uniforms.bonus.size", {}, value},
                  [=](GivenDrafts& g) { g.uniforms.bonus.resize(size, 0.5f); });
    bench.refuses({"request_ids.size", {}, value}, [=](GivenDrafts& g) { g.ids.resize(size); });
  }
}

}  // namespace tokkos::test
