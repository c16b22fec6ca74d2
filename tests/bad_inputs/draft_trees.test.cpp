// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Draft trees that are none, and numbers of theirs that are out of range, as the host sees them.
#include <catch2/catch_template_test_macros.hpp>
#include <tokkos/core/error.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "backends.hpp"
#include "bad_inputs/verifier_bench.hpp"

namespace tokkos::test {
namespace {

constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEMPLATE_LIST_TEST_CASE("uniforms of a verification lie in 0 to below 1", "[row-38]",
                        ExecutionSpaces) {
  VerifierBench<TestType> bench;
  for (const float u : {1.0f, -0x1p-149f, not_a_number, 3.0f}) {
    bench.refuses({"uniforms.nodes", 3, to_text(u)},
                  [=](GivenDrafts& g) { g.uniforms.nodes[3] = u; });
    bench.refuses({"uniforms.bonus", 2, to_text(u)},
                  [=](GivenDrafts& g) { g.uniforms.bonus[2] = u; });
  }
}

TEMPLATE_LIST_TEST_CASE("draft tokens of a verification lie in the vocabulary", "[row-40]",
                        ExecutionSpaces) {
  VerifierBench<TestType> bench;
  for (const TokenId token : {-1, 20, 21, largest, smallest}) {
    bench.refuses({"draft_trees[0].token_ids", 1, to_text(token)},
                  [=](GivenDrafts& g) { g.trees[0].token_ids[1] = token; });
    bench.refuses({"draft_trees[2].token_ids", 0, to_text(token)},
                  [=](GivenDrafts& g) { g.trees[2].token_ids[0] = token; });
  }
}

TEMPLATE_LIST_TEST_CASE("parents and rows of a verification's nodes exist", "[row-44]",
                        ExecutionSpaces) {
  VerifierBench<TestType> bench;
  for (const std::int32_t node : {-2, 3, largest, smallest}) {
    bench.refuses({"draft_trees[0].parents", 2, to_text(node)},
                  [=](GivenDrafts& g) { g.trees[0].parents[2] = node; });
  }
  for (const std::int32_t row : {-2, 4, largest, smallest}) {
    bench.refuses({"row_of_node", 6, to_text(row)},
                  [=](GivenDrafts& g) { g.row_of_node[6] = row; });
  }
  bench.refuses({"row_of_node.size", {}, "7"}, [](GivenDrafts& g) { g.row_of_node.pop_back(); });
}

TEMPLATE_LIST_TEST_CASE("trees of a verification have no cycle", "[row-45]", ExecutionSpaces) {
  VerifierBench<TestType> bench;
  using Parents = std::vector<std::int32_t>;
  for (const Parents& parents : {Parents{1, 0, -1}, Parents{2, 0, 1}, Parents{0, -1, -1}}) {
    bench.refuses({"draft_trees[0].parents", 0, to_text(parents[0])},
                  [=](GivenDrafts& g) { g.trees[0].parents = parents; });
  }
}

TEMPLATE_LIST_TEST_CASE("more nodes than a verifier was made for are refused with the limit",
                        "[row-08][row-55]", ExecutionSpaces) {
  VerifierBench<TestType> bench;
  for (const std::size_t more : {std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
    const auto plant = [=](GivenDrafts& g) { g.trees.insert(g.trees.end(), more, DraftTree{}); };
    bench.refuses({"nodes", {}, std::to_string(8 + more)}, plant);
    GivenDrafts given;
    plant(given);
    CHECK(error_of([&] { bench.verify(given); }).expected == "at most max_num_node = 8");
  }
}

TEST_CASE("links of trees that are given as arrays lead to nodes", "[row-44]") {
  using Ints = std::vector<std::int32_t>;
  const Ints tokens{-1, 1, 2, -1, 3}, child{1, -1, -1, 4, -1}, sibling{-1, 2, -1, -1, -1};
  const Ints roots{0, 3};
  CHECK_NOTHROW(validate_token_trees(tokens, child, sibling, roots, 10));
  for (const std::int32_t node : {-2, 5, 6, largest, smallest}) {
    Ints bad = child;
    bad[2] = node;
    expect_refusal({"token_tree_first_child", 2, to_text(node)},
                   [&] { validate_token_trees(tokens, bad, sibling, roots, 10); });
    bad = sibling;
    bad[4] = node;
    expect_refusal({"token_tree_next_sibling", 4, to_text(node)},
                   [&] { validate_token_trees(tokens, child, bad, roots, 10); });
  }
  for (const std::int32_t root : {-1, 5, largest, smallest}) {
    expect_refusal({"token_tree_parent_ptr", 1, to_text(root)}, [&] {
      validate_token_trees(tokens, child, sibling, Ints{0, root}, 10);
    });
  }
  for (const std::int32_t token : {-1, 10, largest}) {
    Ints bad = tokens;
    bad[2] = token;
    expect_refusal({"draft_tokens", 2, to_text(token)},
                   [&] { validate_token_trees(bad, child, sibling, roots, 10); });
  }
}

TEST_CASE("a node of trees that are given as arrays has one parent and one tree",
          "[row-45][row-46]") {
  using Ints = std::vector<std::int32_t>;
  const Ints tokens{-1, 1, 2, -1, 3};
  const auto refuses = [&](const Blame& blame, const Ints& child, const Ints& sibling,
                           const Ints& roots) {
    expect_refusal(blame, [&] { validate_token_trees(tokens, child, sibling, roots, 10); });
  };
  const Ints none(5, -1);
  // A node in two trees: as a root of both, as a child of both, as a root and somebody's draft.
  refuses({"token_tree_parent_ptr", 1, "0"}, none, none, {0, 0});
  refuses({"token_tree_first_child", 3, "1"}, {1, -1, -1, 1, -1}, none, {0, 3});
  refuses({"token_tree_first_child", 0, "3"}, {3, -1, -1, -1, -1}, none, {0, 3});
  // Two parents in one tree, and cycles of children and of siblings.
  refuses({"token_tree_next_sibling", 1, "2"}, {1, 2, -1, -1, -1}, {-1, 2, -1, -1, -1}, {0});
  refuses({"token_tree_first_child", 1, "1"}, {-1, 1, -1, -1, -1}, none, {0});
  refuses({"token_tree_first_child", 1, "2"}, {-1, 2, 1, -1, -1}, none, {0});
  refuses({"token_tree_next_sibling", 1, "2"}, none, {-1, 2, 1, -1, -1}, {0});
  refuses({"token_tree_first_child", 2, "0"}, {1, 2, 0, -1, -1}, none, {0});
}

}  // namespace tokkos::test
