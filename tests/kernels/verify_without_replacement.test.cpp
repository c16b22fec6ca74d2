// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Siblings that share one stored row and were drawn from it without replacement.
#include <tokkos/core/row_status.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "backends.hpp"
#include "kernels/verify_case_on_device.hpp"
#include "reference/draft_law.hpp"
#include "reference/shared_rows.hpp"

namespace tokkos::test {
namespace {

using Children = std::vector<int>;
constexpr float largest_uniform = 1.0f - 0x1p-24f;

LosslessOutcome outcome_of(const Verified& verified) {
  return {verified.parent_ptr, verified.accepted, verified.bonus_tokens, verified.status};
}

template <class ExecutionSpace>
Verified verify(const VerifyCase& c) {
  return VerifyCaseOnDevice<ExecutionSpace>(c, 3).lossless(ExecutionSpace());
}

/// Trees whose siblings are drawn from two rows in turn, without replacement, and are one-hot now
/// and then. Some tokens come twice, and some rows have mass for two tokens at most.
VerifyCase random_case(int batch, int vocabulary, int children, std::mt19937_64& random) {
  VerifyCase c;
  c.vocabulary = vocabulary;
  for (int b = 0; b < batch; ++b) {
    const int root = c.add_node(-1, -1, 0.0f);
    int parent = root;
    for (int level = 0; level < 2; ++level) {
      int first = -1;
      std::vector<std::vector<std::int32_t>> urns(2);
      for (int i = 0; i < children; ++i) {
        const auto kind = static_cast<std::int32_t>(random() % 5);
        auto& urn = urns[kind < 3 ? 0 : 1];
        if (urn.empty()) {
          for (int v = 0; v < vocabulary; ++v) urn.push_back(v);
          std::ranges::shuffle(urn, random);
        }
        const bool is_copy = first >= 0 && random() % 6 == 0;
        const std::int32_t token = is_copy ? c.draft_tokens[first] : urn.back();
        const int child = c.add_node(parent, token, random_uniform(random));
        if (!is_copy) urn.pop_back();
        if (first < 0) first = child;
        c.row_of_node.resize(static_cast<std::size_t>(c.nodes()), -1);
        c.row_of_node[child] = kind == 4 ? -1 : parent + (kind < 3 ? 0 : 1);
      }
      parent = first;
    }
    c.bonus_uniforms[b] = random_uniform(random);
  }
  c.row_of_node.resize(static_cast<std::size_t>(c.nodes()), -1);
  c.without_replacement = true;
  for (int node = 0; node < c.nodes(); ++node) {
    fill_random_distribution(c.draft_row(node), random);
    fill_random_distribution(c.model_row(node), random);
    if (vocabulary == 1 || random() % 3 != 0) continue;
    const auto row = c.draft_row(node);
    std::ranges::fill(row, 0.0f);
    row[0] = random() % 2 == 0 ? 1.0f : 0.5f;
    row[1] = 1 - row[0];
  }
  return c;
}

template <class ExecutionSpace>
LawDifference law_of_kernel(const DraftProblem& problem, bool without_replacement) {
  return law_difference(problem, [without_replacement](const VerifyCase& c) {
    return outcome_of(verify<ExecutionSpace>(with_shared_rows(c, without_replacement)));
  });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("siblings that share a row are verified as with a row each", "[verify]",
                        ExecutionSpaces) {
  const int vocabulary = GENERATE(1, 2, 3, 33, 4097, 9000);
  const int children = GENERATE(2, 5);
  CAPTURE(vocabulary, children);
  std::mt19937_64 random(vocabulary * 7 + children);
  const VerifyCase shared = random_case(24, vocabulary, children, random);
  const VerifyCase rows = with_rows_of_siblings(shared);
  const Verified verified = verify<TestType>(shared);
  CHECK(outcome_of(verified) == verify_lossless(rows));
  CHECK(verified.guards_intact);
  CHECK(same_bits(verified.model_probs, shared.model_probs));
}

// The model's p is (0, 1/4, 3/8, 3/8). Node 1 has all of row 1 on token 0, and is rejected without
// an effect on p. Node 2 is drawn from row 2, (3/4, 1/8, 1/16, 1/16), and has token 0 too:
// rejected, which leaves (0, 1/6, 5/12, 5/12). Node 3 is what node 2 left of row 2, (0, 1/2, 1/4,
// 1/4): token 1 is rejected by any u >= 1/3, which leaves (0, 0, 1/2, 1/2). If node 1 took token 0
// from row 2 already, node 2 took nothing, and node 3 would be accepted.
TEMPLATE_LIST_TEST_CASE("what a sibling of another row has is not taken from a row", "[verify]",
                        ExecutionSpaces) {
  for (const float bonus_uniform : {0.25f, 0.75f}) {
    VerifyCase c;
    c.vocabulary = 4;
    const int root = c.add_node(-1, -1, 0.0f);
    c.add_node(root, 0, 0.0f);
    c.add_node(root, 0, 0.0f);
    c.add_node(root, 1, 0.5f);
    std::ranges::copy(std::vector{0.0f, 0.25f, 0.375f, 0.375f}, c.model_row(root).begin());
    std::ranges::copy(std::vector{1.0f, 0.0f, 0.0f, 0.0f}, c.draft_row(1).begin());
    std::ranges::copy(std::vector{0.75f, 0.125f, 0.0625f, 0.0625f}, c.draft_row(2).begin());
    c.row_of_node = {-1, 1, 2, 2};
    c.without_replacement = true;
    c.bonus_uniforms[0] = bonus_uniform;
    const Verified verified = verify<TestType>(c);
    CHECK(verified.status[0] == RowStatus::ok);
    CHECK(verified.parent_ptr[0] == root);
    CHECK(verified.bonus_tokens[0] == (bonus_uniform < 0.5f ? 2 : 3));
    c.uniforms[3] = 0.25f;
    CHECK(verify<TestType>(c).parent_ptr[0] == 3);
  }
}

TEMPLATE_LIST_TEST_CASE("siblings that share a row emit the target's law over sequences",
                        "[verify][law]", ExecutionSpaces) {
  const auto [vocabulary, children] = GENERATE(table<int, Children>(
      {{2, {2, 2}}, {3, {2, 1}}, {3, {3}}, {3, {2, 2}}, {4, {3}}, {4, {1, 2}}}));
  const std::uint64_t seed = 5 + children.size() % 2;
  CAPTURE(vocabulary, children, seed);
  const DraftProblem problem{vocabulary, children, Drafting::same_row_without_replacement, seed};
  const LawDifference difference = law_of_kernel<TestType>(problem, true);
  CHECK(difference.total_variation <= 2e-6);
  CHECK(difference.forbidden_mass == 0);
}

// Negative controls.
TEMPLATE_LIST_TEST_CASE("the law is visibly broken if siblings' draws are said to be replaced",
                        "[verify][law]", ExecutionSpaces) {
  for (const DraftProblem& problem :
       {DraftProblem{4, {3}, Drafting::same_row_without_replacement, 5},
        DraftProblem{3, {2, 1}, Drafting::same_row_without_replacement, 5}}) {
    CHECK(law_of_kernel<TestType>(problem, false).total_variation > 1e-2);
  }
  CHECK(law_of_kernel<TestType>({4, {3}, Drafting::with_replacement, 5}, true).total_variation >
        1e-2);
}

TEMPLATE_LIST_TEST_CASE("a shared row that is no distribution ends the walk", "[verify]",
                        ExecutionSpaces) {
  const float value = GENERATE(std::numeric_limits<float>::quiet_NaN(), -0.25f, 0.0f, 0.75f, 1.5f);
  VerifyCase c;
  c.vocabulary = 8;
  const int root = c.add_node(-1, -1, 0.0f);
  for (const std::int32_t token : {0, 1}) c.add_node(root, token, largest_uniform);
  std::ranges::fill(c.model_row(root), 0.125f);
  std::ranges::copy(std::vector{0.5f, 0.25f, value}, c.draft_row(1).begin());  // 0.25 is right
  c.row_of_node = {-1, 1, 1};
  c.without_replacement = true;
  const Verified verified = verify<TestType>(c);
  CHECK(verified.status[0] == RowStatus::invalid_probability);
  CHECK(verified.parent_ptr[0] == root);
  CHECK(verified.bonus_tokens[0] == -1);
  c.draft_row(1)[2] = 0.25f;
  CHECK(verify<TestType>(c).status[0] == RowStatus::ok);
  c.draft_row(1)[3] = -0.0001f;  // the sum would do
  CHECK(verify<TestType>(c).status[0] == RowStatus::invalid_probability);
}

// Only the sum of the row looks at them: the target has nothing to subtract them from.
TEMPLATE_LIST_TEST_CASE("padding of a shared row that is no probability ends the walk", "[verify]",
                        ExecutionSpaces) {
  VerifyCase c;
  c.vocabulary = 8;
  c.active_vocabulary = 7;
  const int root = c.add_node(-1, -1, 0.0f);
  for (const std::int32_t token : {0, 1}) c.add_node(root, token, largest_uniform);
  std::ranges::fill(c.model_row(root).first(7), 1.0f / 7);
  std::ranges::copy(std::vector{0.5f, 0.25f, 0.25f}, c.draft_row(1).begin());
  c.row_of_node = {-1, 1, 1};
  c.without_replacement = true;
  CHECK(verify<TestType>(c).status[0] == RowStatus::ok);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), -0.0001f, -INFINITY}) {
    c.draft_row(1)[7] = value;
    const Verified verified = verify<TestType>(c);
    CHECK(verified.status[0] == RowStatus::invalid_probability);
    CHECK(verified.parent_ptr[0] == root);
    CHECK(verified.bonus_tokens[0] == -1);
  }
}

}  // namespace tokkos::test
