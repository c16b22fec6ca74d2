// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Rows of several chunks in which one number, far from every token, is no probability: the chunks
// whose sums are legal must not hide it, whoever sums them.
#include <tokkos/core/row_status.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends.hpp"
#include "kernels/verify_case_on_device.hpp"

namespace tokkos::test {
namespace {

constexpr int long_vocabulary = 9000;  // three chunks

/// A root and a draft of token 5, which alone was likely; the target likes all tokens alike.
VerifyCase one_draft(float uniform) {
  VerifyCase c;
  c.vocabulary = long_vocabulary;
  const int root = c.add_node(-1, -1, 0.0f);
  c.add_node(root, 5, uniform);
  std::ranges::fill(c.model_probs, 1.0f / long_vocabulary);
  c.draft_row(1)[5] = 1.0f;
  c.bonus_uniforms[0] = 0.9f;
  return c;
}

template <class ExecutionSpace>
Verified by_any_sums(const VerifyCase& c) {
  VerifyCaseOnDevice<ExecutionSpace> on_device(c);
  return on_device.lossless(ExecutionSpace(), on_device.trees(), {1, 2, 4});
}

void check_invalid(const Verified& verified, int last) {
  CHECK(verified.status == std::vector<std::int32_t>{RowStatus::invalid_probability});
  CHECK(verified.parent_ptr == std::vector<std::int32_t>{last});
  CHECK(verified.bonus_tokens == std::vector<std::int32_t>{-1});
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a number of a long row that is no probability is seen in every chunk",
                        "[verify]", ExecutionSpaces) {
  const float bad = GENERATE(std::numeric_limits<float>::quiet_NaN(), -0.25f,
                             std::numeric_limits<float>::infinity(), 1.25f);
  const std::size_t place = GENERATE(0, 4095, 4096, 8191, 8192, 8999);
  CAPTURE(bad, place);
  const VerifyCase rejected = one_draft(0.5f), accepted = one_draft(0.0f);
  REQUIRE(by_any_sums<TestType>(rejected).status == std::vector<std::int32_t>{RowStatus::ok});
  REQUIRE(by_any_sums<TestType>(rejected).accepted == std::vector<std::int32_t>{0});
  REQUIRE(by_any_sums<TestType>(accepted).accepted == std::vector<std::int32_t>{1});

  VerifyCase c = rejected;
  c.model_row(0)[place] = bad;
  check_invalid(by_any_sums<TestType>(c), 0);
  c = rejected;
  c.draft_row(1)[place] = bad;
  check_invalid(by_any_sums<TestType>(c), 0);
  c = accepted;
  c.model_row(1)[place] = bad;
  check_invalid(by_any_sums<TestType>(c), 1);
}

}  // namespace tokkos::test
