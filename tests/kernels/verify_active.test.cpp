// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// verify_draft_trees where the target has fewer tokens than the drafter: the others are to the
// reference tokens that the target forbids.
#include <tokkos/kernels/verify_draft_trees.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "backends.hpp"
#include "kernels/verify_case_on_device.hpp"
#include "reference/shared_rows.hpp"
#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

enum class Rows { own, shared, without_replacement, one_hot };

VerifyCase make_case(int vocabulary, int active, Rows rows, std::uint64_t seed) {
  VerifyCase c = make_verify_case(10, vocabulary, 3, 4, Acceptance::mixed, seed);
  std::mt19937_64 random(seed);
  for (int node = 0; node < c.nodes(); ++node) {
    const auto row = c.model_row(node);
    fill_random_distribution(row.first(static_cast<std::size_t>(active)), random);
    std::ranges::fill(row.subspan(static_cast<std::size_t>(active)), 0.0f);
    if (random() % 3 == 0) c.draft_tokens[node] = static_cast<std::int32_t>(random() % active);
  }
  if (rows == Rows::one_hot) c.row_of_node.assign(c.draft_tokens.size(), -1);
  if (rows == Rows::shared) return with_shared_rows(c, false);
  if (rows == Rows::without_replacement) return with_shared_rows(c, true);
  return c;
}

LosslessOutcome expected_of(const VerifyCase& c, Rows rows) {
  if (rows == Rows::own) return verify_lossless(c);
  return verify_lossless(rows == Rows::one_hot ? with_rows_of_siblings(c) : with_own_rows(c));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("tokens that only the drafter knows are rejected as forbidden ones",
                        "[verify]", ExecutionSpaces) {
  const auto [vocabulary, active] =
      GENERATE(table<int, int>({{9, 5}, {9, 1}, {9, 9}, {9000, 4096}, {9000, 4097}, {9000, 17}}));
  const Rows rows = GENERATE(Rows::own, Rows::shared, Rows::without_replacement, Rows::one_hot);
  CAPTURE(vocabulary, active, rows);
  VerifyCase c = make_case(vocabulary, active, rows, static_cast<std::uint64_t>(active));
  const LosslessOutcome expected = expected_of(c, rows);
  int past = 0;
  for (const std::int32_t token : c.draft_tokens) past += token >= active ? 1 : 0;
  CHECK((past > 0 || active > vocabulary / 2));
  for (int node = 0; node < c.nodes(); ++node) {  // what is there is not looked at
    const auto padding = c.model_row(node).subspan(static_cast<std::size_t>(active));
    std::ranges::fill(padding, node % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : 0.75f);
  }
  c.active_vocabulary = active;
  VerifyCaseOnDevice<TestType> on_device(c);
  const TestType space;
  const Verified verified = on_device.lossless(space, on_device.trees(), {1, 2, 4, 9});
  CHECK(verified.parent_ptr == expected.last_accepted);
  CHECK(verified.accepted == expected.accepted);
  CHECK(verified.bonus_tokens == expected.bonus_tokens);
  CHECK(verified.status == expected.status);
  CHECK(verified.guards_intact);
}

TEMPLATE_LIST_TEST_CASE("a number of tokens that is none is refused by verify_draft_trees",
                        "[verify]", ExecutionSpaces) {
  VerifyCase c = make_case(9, 9, Rows::own, 3);
  for (const int bad : {-1, 10, 1000}) {
    CAPTURE(bad);
    c.active_vocabulary = bad;
    VerifyCaseOnDevice<TestType> on_device(c);
    const Complaint error = error_of([&] { on_device.lossless(TestType()); });
    CHECK(error.names("active_vocabulary"));
    CHECK(error.value == std::to_string(bad));
  }
}

}  // namespace tokkos::test
