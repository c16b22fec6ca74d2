// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Rows whose numbers are each as large as a probability may be by rounding, so that the sum of a
// row of the largest vocabulary is past 2^63 on the grid: no distribution, whatever it wraps to.
#include <tokkos/kernels/sample_from_probabilities.hpp>
#include <tokkos/kernels/softmax_with_chunked_sum.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends.hpp"
#include "kernels/guarded.hpp"
#include "kernels/verify_case_on_device.hpp"

namespace tokkos::test {
namespace {

constexpr int largest_vocabulary = 524287;

/// A root and a chosen draft of token 0, which the target forbids; all else is 1.001.
VerifyCase one_rejection() {
  VerifyCase c;
  c.vocabulary = largest_vocabulary;
  const int root = c.add_node(-1, -1, 0.0f);
  c.add_node(root, 0, 0.5f);
  std::ranges::fill(c.model_probs, 1.001f);
  c.model_row(root)[0] = 0.0f;
  c.row_of_node = {-1, -1};
  return c;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a residual past 2^63 is none", "[verify]", ExecutionSpaces) {
  const VerifyCase c = one_rejection();
  VerifyCaseOnDevice<TestType> on_device(c);
  const TestType space;
  const Verified lossless = on_device.lossless(space, on_device.trees(), {1, 2, 4});
  CHECK(lossless.status == std::vector<std::int32_t>{RowStatus::invalid_probability});
  CHECK(lossless.accepted == std::vector<std::int32_t>{0});
  CHECK(lossless.bonus_tokens == std::vector<std::int32_t>{-1});

  VerifyCaseOnDevice<TestType> for_seed(c);
  const Verified by_seed = for_seed.by_seed_rule(space);
  CHECK(by_seed.status == std::vector<std::int32_t>{RowStatus::invalid_probability});
  CHECK(by_seed.parent_ptr == c.roots);
  CHECK(std::all_of(by_seed.model_probs.begin(), by_seed.model_probs.begin() + largest_vocabulary,
                    [](float p) { return p == 0.0f; }));
  CHECK(by_seed.guards_intact);
}

TEMPLATE_LIST_TEST_CASE("nothing is drawn from a row whose sum is past 2^63", "[sampling]",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  const std::vector<float> row(largest_vocabulary, 1.001f);
  const Guarded<float, Memory> probabilities(1, largest_vocabulary, 0, row);
  for (const float u : {0.0f, 0.5f, 1.0f - 0x1p-24f}) {
    Guarded<float, Memory> uniforms(std::vector<float>{u});
    Guarded<std::int32_t, Memory> tokens(1), status(std::vector<std::int32_t>{0});
    const TestType space;
    sample_from_probabilities(space, probabilities.matrix(), uniforms.vector(), tokens.vector(),
                              status.vector());
    space.fence("tokkos::test::drawn");
    CHECK(tokens.values()[0] == -1);
    CHECK(status.values()[0] == RowStatus::invalid_probability);
  }
}

TEMPLATE_LIST_TEST_CASE("a chunk has no more maxima than tokens, whatever its buffer says", "",
                        ExecutionSpaces) {
  using Memory = MemoryOf<TestType>;
  constexpr std::size_t chunks = 3, vocabulary = 3 * 4096;
  for (const float count : {5000.0f, 6e18f, 3e38f}) {
    CAPTURE(count);
    Guarded<float, Memory> logits(1, vocabulary, 0, std::vector<float>(vocabulary, 1.0f));
    const Guarded<float, Memory> sums(1, chunks, 0, std::vector<float>(chunks, count));
    const Guarded<float, Memory> maxima(1, chunks, 0, std::vector<float>(chunks, 1.0f));
    Guarded<float, Memory> probabilities(1, vocabulary, 0, {}), zero(std::vector<float>{0.0f});
    LogitRows<float, Memory> rows;
    rows.logits = logits.matrix();
    rows.temperature = zero.vector();
    const TestType space;
    softmax_with_chunked_sum(space, rows, sums.matrix(), maxima.matrix(), probabilities.matrix());
    space.fence("tokkos::test::softmax");
    const std::vector<float> p = probabilities.values();
    CHECK(std::ranges::all_of(p, [](float x) { return x == 1.0f / (3 * 4096); }));
    CHECK(probabilities.guards_intact());
  }
}

}  // namespace tokkos::test
