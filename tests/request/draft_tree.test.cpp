// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/draft_tree.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <random>
#include <vector>

#include "request/error_of.hpp"

namespace {

std::atomic<std::size_t> allocations = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

// A sanitizer's library has one that does not call the other.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tokkos::test {
namespace {

using Indices = std::vector<std::int32_t>;
constexpr std::int64_t vocabulary = 50;

}  // namespace

TEST_CASE("a draft tree gives the path to each node", "[request]") {
  // 0 -> {1, 3}, 1 -> 2; 4 follows the committed tokens as 0 does.
  const DraftTree tree{{10, 11, 12, 13, 14}, {-1, 0, 1, 0, -1}};
  CHECK(tree.size() == 5);
  CHECK(tree.path(-1).empty());
  CHECK(tree.path(0) == Indices{0});
  CHECK(tree.path(2) == Indices{0, 1, 2});
  CHECK(tree.path(3) == Indices{0, 3});
  CHECK(tree.path(4) == Indices{4});
  CHECK(tree.depth(-1) == 0);
  CHECK(tree.depth(2) == 3);
  CHECK(tree.depth(4) == 1);
  CHECK(tree.depths() == Indices{1, 2, 3, 2, 1});
}

TEST_CASE("a draft tree may number children before parents", "[request]") {
  const DraftTree tree{{1, 2, 3}, {2, 0, -1}};  // 2 -> 0 -> 1
  CHECK_NOTHROW(validate(tree, vocabulary, 0));
  CHECK(tree.path(1) == Indices{2, 0, 1});
  CHECK(tree.depth(1) == 3);
  CHECK(tree.depths() == Indices{2, 3, 1});
  constexpr std::int32_t many = 1000000;  // in as many steps, not in their square
  DraftTree upwards{std::vector<TokenId>(many, 1), {}};
  for (std::int32_t i = 0; i < many; ++i) upwards.parents.push_back(i + 1 < many ? i + 1 : -1);
  const auto depths = upwards.depths();
  CHECK(depths.front() == many);
  CHECK(depths.back() == 1);
}

TEST_CASE("depths of what is no tree are refused", "[request]") {
  for (const auto& parents : {Indices{1, 0}, Indices{-1, 1}, Indices{2, -1}, Indices{-2}}) {
    const DraftTree tree{std::vector<TokenId>(parents.size(), 1), parents};
    CHECK_THROWS_AS(tree.depths(), Error);
  }
}

TEST_CASE("validation accepts trees and names what is wrong with others", "[request]") {
  CHECK_NOTHROW(validate(DraftTree{}, vocabulary, 0));
  CHECK_NOTHROW(validate(DraftTree{{0, 49}, {-1, -1}}, vocabulary, 0));
  SECTION("tokens") {
    const TokenId token = GENERATE(-1, 50, std::numeric_limits<TokenId>::max());
    const Complaint complaint = error_of([&] {
      validate(DraftTree{{1, token}, {-1, 0}}, vocabulary, 3);
    });
    CHECK(complaint.names("token_ids"));
    CHECK(complaint.index == 1);
    CHECK(complaint.value == to_text(token));
  }
  SECTION("parents out of range") {
    const std::int32_t parent = GENERATE(-2, 3, 1000, std::numeric_limits<std::int32_t>::min());
    const Complaint complaint = error_of([&] {
      validate(DraftTree{{1, 2, 3}, {-1, 0, parent}}, vocabulary, 3);
    });
    CHECK(complaint.names("parents"));
    CHECK(complaint.index == 2);
    CHECK(complaint.value == to_text(parent));
  }
  SECTION("cycles") {
    const Indices parents =
        GENERATE(Indices{0, -1, -1}, Indices{-1, 2, 1}, Indices{1, 2, 0}, Indices{-1, 1, 0});
    const Complaint complaint = error_of([&] {
      validate(DraftTree{{1, 2, 3}, parents}, vocabulary, 3);
    });
    CHECK(complaint.names("parents"));
    CHECK(complaint.index.has_value());
  }
  SECTION("lengths that differ") {
    CHECK(error_of([] {
            validate(DraftTree{{1, 2, 3}, {-1, 0}}, vocabulary, 3);
          }).names("parents"));
    CHECK_THROWS_AS(validate(DraftTree{{1}, {-1, 0}}, vocabulary, 3), Error);
  }
}

TEST_CASE("validating a right tree allocates nothing", "[request]") {
  const DraftTree tree{{10, 11, 12, 13, 14}, {-1, 0, 1, 0, -1}};
  const std::size_t before = allocations;
  validate(tree, vocabulary, 1'000'000);
  CHECK(allocations == before);
}

TEST_CASE("a long chain is validated in reasonable time", "[request]") {
  constexpr std::int32_t size = 200000;
  DraftTree tree;
  for (std::int32_t i = 0; i < size; ++i) {
    tree.token_ids.push_back(0);
    tree.parents.push_back(i - 1);
  }
  CHECK_NOTHROW(validate(tree, vocabulary, 0));
  CHECK(tree.depth(size - 1) == size);
}

TEST_CASE("flatten puts a root before the drafts of each tree", "[request]") {
  const std::vector<DraftTree> trees = {{{7, 8, 9}, {-1, -1, 0}}, {}, {{5}, {-1}}};
  const TokenTreeArrays arrays = flatten(trees);
  CHECK(arrays.root == Indices{0, 4, 5});
  CHECK(arrays.draft_tokens == Indices{-1, 7, 8, 9, -1, -1, 5});
  CHECK(arrays.first_child == Indices{1, 3, -1, -1, -1, 6, -1});
  CHECK(arrays.next_sibling == Indices{-1, 2, -1, -1, -1, -1, -1});
}

TEST_CASE("flatten keeps parents and the order of siblings", "[request]") {
  std::mt19937 random(3);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<DraftTree> trees(1 + random() % 4);
    for (DraftTree& tree : trees) {
      const std::size_t size = random() % 9;
      for (std::size_t i = 0; i < size; ++i) {
        tree.token_ids.push_back(static_cast<TokenId>(random() % vocabulary));
        tree.parents.push_back(static_cast<std::int32_t>(random() % (i + 1)) - 1);
      }
    }
    const TokenTreeArrays arrays = flatten(trees);
    CHECK_NOTHROW(validate_token_trees(arrays.draft_tokens, arrays.first_child, arrays.next_sibling,
                                       arrays.root, vocabulary));
    for (std::size_t b = 0; b < trees.size(); ++b) {
      for (std::int32_t node = -1; node < static_cast<std::int32_t>(trees[b].size()); ++node) {
        Indices children, expected;
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(trees[b].size()); ++i) {
          if (trees[b].parents[i] == node) expected.push_back(arrays.root[b] + 1 + i);
        }
        for (std::int32_t c = arrays.first_child[arrays.root[b] + 1 + node]; c != -1;
             c = arrays.next_sibling[c]) {
          children.push_back(c);
        }
        CHECK(children == expected);
      }
    }
  }
}

}  // namespace tokkos::test
