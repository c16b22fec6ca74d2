// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/linked_draft_trees.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

constexpr std::int64_t vocabulary = 50;

/// What an engine keeps of one tree: 0 -> {1, 4}, 1 -> {2, 3}.
template <class Index>
struct Links {
  std::vector<Index> tokens{-1, 11, 12, 13, 14};
  std::vector<Index> first_child{1, 2, -1, -1, -1};
  std::vector<Index> next_sibling{-1, 4, 3, -1, -1};

  DraftTree tree() const {
    return draft_tree_of_links(tokens, first_child, next_sibling, vocabulary);
  }
};

/// A tree as its children's lists say, in the order in which they are tried.
struct Children {
  std::vector<std::vector<int>> of;
  std::vector<int> parent;
};

/// Random numbers for the nodes of a random tree, whose siblings stand in any order.
Children random_children(int nodes, std::mt19937& random) {
  std::vector<int> number(static_cast<std::size_t>(nodes));
  std::iota(number.begin(), number.end(), 0);
  std::ranges::shuffle(number.begin() + 1, number.end(), random);
  Children children{std::vector<std::vector<int>>(number.size()),
                    std::vector<int>(number.size(), -1)};
  for (std::size_t i = 1; i < number.size(); ++i) {
    const int parent = number[random() % i];
    children.parent[static_cast<std::size_t>(number[i])] = parent;
    children.of[static_cast<std::size_t>(parent)].push_back(number[i]);
  }
  return children;
}

template <class Index>
Links<Index> linked(const Children& children, std::mt19937& random) {
  Links<Index> links;
  const std::size_t nodes = children.of.size();
  links.tokens.resize(nodes);
  for (Index& token : links.tokens) token = static_cast<Index>(random() % vocabulary);
  links.tokens[0] = std::numeric_limits<Index>::max();  // the root's is not read
  links.first_child.assign(nodes, -1);
  links.next_sibling.assign(nodes, -1);
  for (std::size_t parent = 0; parent < nodes; ++parent) {
    Index* link = &links.first_child[parent];
    for (const int child : children.of[parent]) {
      *link = child;
      link = &links.next_sibling[static_cast<std::size_t>(child)];
    }
  }
  return links;
}

template <class Index>
std::vector<std::int64_t> widened(const std::vector<Index>& numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("a tree of links keeps its tokens, parents and numbers", "[request]",
                   std::int32_t, std::int64_t) {
  const DraftTree tree = Links<TestType>().tree();
  CHECK(tree.token_ids == std::vector<TokenId>{11, 12, 13, 14});
  CHECK(tree.parents == std::vector<std::int32_t>{-1, 0, 0, -1});
  CHECK(tree.trial_order.empty());
  const Links<TestType> root{{1000}, {-1}, {-1}};
  CHECK(root.tree().size() == 0);
}

TEMPLATE_TEST_CASE("random trees of links have the parents and siblings that were linked",
                   "[request]", std::int32_t, std::int64_t) {
  std::mt19937 random(7);
  int reordered = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int nodes = 1 + static_cast<int>(random() % 12);
    const Children children = random_children(nodes, random);
    const Links<TestType> links = linked<TestType>(children, random);
    const DraftTree tree = links.tree();
    REQUIRE(tree.size() == static_cast<std::size_t>(nodes - 1));
    CHECK_NOTHROW(validate(tree, vocabulary, 0));
    for (std::size_t i = 0; i < tree.size(); ++i) {
      CHECK(tree.token_ids[i] == links.tokens[i + 1]);
      CHECK(tree.parents[i] == children.parent[i + 1] - 1);
    }
    // Back to links: the same, whatever the order of the siblings.
    const TokenTreeArrays arrays = flatten({&tree, 1});
    CHECK(widened(arrays.first_child) == widened(links.first_child));
    CHECK(widened(arrays.next_sibling) == widened(links.next_sibling));
    reordered += tree.trial_order.empty() ? 0 : 1;
  }
  CHECK((reordered > 50 && reordered < 250));
}

TEMPLATE_TEST_CASE("links that are no tree are refused by array, place and value", "[request]",
                   std::int32_t, std::int64_t) {
  using Numbers = std::vector<TestType>;
  const Links<TestType> good;
  const auto refuses = [](const Links<TestType>& bad, const char* field, int index,
                          std::int64_t value) {
    CAPTURE(field, index, value);
    const Complaint complaint = error_of([&] { bad.tree(); });
    CHECK(complaint.field == field);
    CHECK(complaint.index == index);
    CHECK(complaint.value == to_text(value));
    CHECK(!complaint.expected.empty());
  };
  const auto with = [&](Numbers Links<TestType>::*array, std::size_t place, auto value) {
    Links<TestType> bad = good;
    (bad.*array)[place] = static_cast<TestType>(value);
    return bad;
  };
  using L = Links<TestType>;
  SECTION("numbers out of range, and the root, which nothing leads to") {
    constexpr TestType largest = std::numeric_limits<TestType>::max();
    for (const TestType link : {TestType{0}, TestType{-2}, TestType{5}, largest, -largest - 1}) {
      refuses(with(&L::first_child, 3, link), "first_child", 3, link);
      refuses(with(&L::next_sibling, 4, link), "next_sibling", 4, link);
    }
  }
  SECTION("a root with a sibling") {
    for (const TestType link : {1, 4, 0, -2}) {
      refuses(with(&L::next_sibling, 0, link), "next_sibling", 0, link);
    }
  }
  SECTION("a node of two parents") {
    refuses(with(&L::first_child, 4, 2), "first_child", 4, 2);
    refuses(with(&L::next_sibling, 3, 4), "next_sibling", 3, 4);
    refuses(with(&L::first_child, 2, 3), "next_sibling", 2, 3);
  }
  SECTION("links to their own node") {
    refuses({good.tokens, {2, 1, -1, -1, -1}, {-1, 4, 3, -1, -1}}, "first_child", 1, 1);
    refuses({good.tokens, {1, 2, -1, -1, -1}, {-1, -1, 3, -1, 4}}, "next_sibling", 4, 4);
    refuses({good.tokens, {1, -1, -1, 3, -1}, {-1, 4, -1, -1, -1}}, "draft_tokens", 2, 12);
  }
  SECTION("cycles, by one of their links") {
    refuses({good.tokens, {4, 2, 1, -1, -1}, {-1, -1, 3, -1, -1}}, "first_child", 1, 2);
    refuses({good.tokens, {4, -1, -1, -1, -1}, {-1, 2, 3, 1, -1}}, "next_sibling", 1, 2);
    refuses({good.tokens, {1, -1, 3, 4, 2}, {-1, -1, -1, -1, -1}}, "first_child", 2, 3);
  }
  SECTION("nodes that the root does not lead to") {
    refuses(with(&L::first_child, 0, -1), "draft_tokens", 1, 11);
    refuses(with(&L::next_sibling, 2, -1), "draft_tokens", 3, 13);
    refuses(with(&L::next_sibling, 1, -1), "draft_tokens", 4, 14);
  }
  SECTION("tokens") {
    for (const std::int64_t token : {-1, 50, 2147483647}) {
      refuses(with(&L::tokens, 3, token), "draft_tokens", 3, token);
    }
  }
}

TEST_CASE("int64 tokens and links are not cut to 32 bits", "[request]") {
  for (const std::int64_t wide : {std::int64_t{1} << 32, -(std::int64_t{1} << 32) - 1,
                                  std::numeric_limits<std::int64_t>::min()}) {
    Links<std::int64_t> bad;
    bad.tokens[2] += wide;
    CHECK(error_of([&] { bad.tree(); }).field == "draft_tokens");
    bad = {};
    bad.next_sibling[2] += wide;
    const Complaint complaint = error_of([&] { bad.tree(); });
    CHECK(complaint.field == "next_sibling");
    CHECK(complaint.value == to_text(3 + wide));
  }
}

TEST_CASE("arrays of links have one number for each node, and a root", "[request]") {
  for (auto array : {&Links<std::int32_t>::first_child, &Links<std::int32_t>::next_sibling}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{6}}) {
      Links<std::int32_t> bad;
      (bad.*array).resize(size, -1);
      const Complaint complaint = error_of([&] { bad.tree(); });
      CHECK(complaint.names(array == &Links<std::int32_t>::first_child ? "first_child.size"
                                                                       : "next_sibling.size"));
      CHECK(complaint.value == std::to_string(size));
    }
  }
  const Links<std::int32_t> none{{}, {}, {}};
  CHECK(error_of([&] { none.tree(); }).field == "draft_tokens.size");
}

TEST_CASE("a batch of trees of one size is a list of trees", "[request]") {
  const std::vector<std::int64_t> tokens{9, 1, 2, 9, 3, 4}, child{1, -1, -1, 1, 2, -1},
      sibling{-1, 2, -1, -1, -1, -1};
  const auto trees = draft_trees_of_links(tokens, child, sibling, 3, vocabulary);
  REQUIRE(trees.size() == 2);
  CHECK(trees[0].token_ids == std::vector<TokenId>{1, 2});
  CHECK(trees[0].parents == std::vector<std::int32_t>{-1, -1});
  CHECK(trees[1].token_ids == std::vector<TokenId>{3, 4});
  CHECK(trees[1].parents == std::vector<std::int32_t>{-1, 0});
  const std::vector<std::int64_t> nothing;
  CHECK(draft_trees_of_links(nothing, nothing, nothing, 3, vocabulary).empty());
  for (const std::int64_t nodes : {-3, 0, 4, 5, 7}) {
    const Complaint complaint =
        error_of([&] { draft_trees_of_links(tokens, child, sibling, nodes, vocabulary); });
    CHECK(complaint.field == "nodes_per_tree");
    CHECK(complaint.value == to_text(nodes));
  }
  for (const std::int64_t link : {3, 2, -2}) {
    auto bad = child;
    bad[5] = link;
    const Complaint complaint =
        error_of([&] { draft_trees_of_links(tokens, bad, sibling, 3, vocabulary); });
    CHECK(complaint.field == "draft_trees[1].first_child");
    CHECK(complaint.index == 2);
    CHECK(complaint.value == to_text(link));
  }
  auto few = sibling;
  few.pop_back();
  CHECK(error_of([&] { draft_trees_of_links(tokens, child, few, 3, vocabulary); }).field ==
        "next_sibling.size");
  CHECK(error_of([&] { draft_trees_of_links(tokens, few, sibling, 3, vocabulary); }).field ==
        "first_child.size");
}

TEST_CASE("a long chain of links is converted in reasonable time", "[request]") {
  constexpr std::size_t nodes = 200001;
  std::vector<std::int64_t> tokens(nodes, 1), child(nodes), sibling(nodes, -1);
  std::iota(child.begin(), child.end(), 1);
  child.back() = -1;
  CHECK(draft_tree_of_links(tokens, child, sibling, vocabulary).is_chain());
  // The same turned round, one level of children.
  std::swap(child, sibling);
  sibling[0] = -1, child[0] = 1;
  const DraftTree wide = draft_tree_of_links(tokens, child, sibling, vocabulary);
  CHECK(std::ranges::count(wide.parents, -1) == static_cast<int>(nodes) - 1);
}

TEST_CASE("siblings are tried in an order of which every node is part once", "[request]") {
  DraftTree tree{{1, 2, 3}, {-1, -1, 0}, {1, 0, 2}};
  CHECK_NOTHROW(validate(tree, vocabulary, 0));
  CHECK(flatten({&tree, 1}).first_child == std::vector<std::int32_t>{2, 3, -1, -1});
  CHECK(flatten({&tree, 1}).next_sibling == std::vector<std::int32_t>{-1, -1, 1, -1});
  for (const std::int32_t node : {-1, 3, 0, 1, std::numeric_limits<std::int32_t>::max()}) {
    tree.trial_order[2] = node;
    const Complaint complaint = error_of([&] { validate(tree, vocabulary, 4); });
    CHECK(complaint.field == "draft_trees[4].trial_order");
    CHECK(complaint.index == 2);
    CHECK(complaint.value == to_text(node));
  }
  for (const std::size_t size : {1, 2, 4}) {
    tree.trial_order.resize(size, 0);
    CHECK(error_of([&] { validate(tree, vocabulary, 4); }).names("trial_order.size"));
  }
}

TEST_CASE("links in a vocabulary that no token number reaches are refused", "[request]") {
  const std::vector<std::int32_t> tokens{0, 3}, child{1, -1}, sibling{-1, -1};
  for (const std::int64_t size : {std::int64_t{1} << 31, std::int64_t{1} << 40}) {
    const Complaint said = error_of([&] { draft_tree_of_links(tokens, child, sibling, size); });
    CHECK(said.field == "vocabulary");
    CHECK(said.value == to_text(size));
  }
  CHECK(draft_tree_of_links(tokens, child, sibling, 2147483647).size() == 1);
}

}  // namespace tokkos::test
