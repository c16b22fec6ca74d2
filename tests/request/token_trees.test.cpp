// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/request/draft_tree.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include "request/error_of.hpp"

namespace tokkos::test {
namespace {

using Indices = std::vector<std::int32_t>;

/// Two trees: 0 -> {1, 2}, 1 -> 3; 4 -> 5.
struct Arrays {
  Indices draft_tokens = {-1, 1, 2, 3, -1, 5};
  Indices first_child = {1, 3, -1, -1, 5, -1};
  Indices next_sibling = {-1, 2, -1, -1, -1, -1};
  Indices parent_ptr = {0, 4};

  void check() const {
    validate_token_trees(draft_tokens, first_child, next_sibling, parent_ptr, 10);
  }
};

}  // namespace

TEST_CASE("token tree arrays in order are accepted, whatever the roots' tokens", "[request]") {
  Arrays arrays;
  CHECK_NOTHROW(arrays.check());
  arrays.draft_tokens[0] = 1000;
  arrays.draft_tokens[4] = -1000;
  CHECK_NOTHROW(arrays.check());
  CHECK_NOTHROW(validate_token_trees({}, {}, {}, {}, 10));
}

TEST_CASE("token tree arrays name indices out of range", "[request]") {
  const std::int32_t index = GENERATE(-2, 6, 7, std::numeric_limits<std::int32_t>::max(),
                                      std::numeric_limits<std::int32_t>::min());
  CAPTURE(index);
  Arrays arrays;
  SECTION("first child") {
    arrays.first_child[3] = index;
    const Complaint complaint = error_of([&] { arrays.check(); });
    CHECK(complaint.names("first_child"));
    CHECK(complaint.index == 3);
    CHECK(complaint.value == to_text(index));
  }
  SECTION("next sibling") {
    arrays.next_sibling[2] = index;
    const Complaint complaint = error_of([&] { arrays.check(); });
    CHECK(complaint.names("next_sibling"));
    CHECK(complaint.index == 2);
    CHECK(complaint.value == to_text(index));
  }
  SECTION("root") {
    arrays.parent_ptr[1] = index;
    const Complaint complaint = error_of([&] { arrays.check(); });
    CHECK(complaint.names("parent_ptr"));
    CHECK(complaint.index == 1);
    CHECK(complaint.value == to_text(index));
  }
}

TEST_CASE("a root is a node, never 'none'", "[request]") {
  Arrays arrays;
  arrays.parent_ptr[0] = -1;
  CHECK(error_of([&] { arrays.check(); }).names("parent_ptr"));
}

TEST_CASE("token tree arrays name draft tokens outside the vocabulary", "[request]") {
  const TokenId token = GENERATE(-1, 10, std::numeric_limits<TokenId>::max());
  Arrays arrays;
  arrays.draft_tokens[5] = token;
  const Complaint complaint = error_of([&] { arrays.check(); });
  CHECK(complaint.names("draft_tokens"));
  CHECK(complaint.index == 5);
  CHECK(complaint.value == to_text(token));
}

TEST_CASE("token tree arrays are refused with a cycle", "[request]") {
  Arrays arrays;
  SECTION("a child that is its ancestor") {
    arrays.first_child[3] = 1;
  }
  SECTION("a child that is the root") {
    arrays.first_child[3] = 0;
  }
  SECTION("a child of itself") {
    arrays.first_child[5] = 5;
  }
  SECTION("siblings in a ring") {
    arrays.next_sibling[2] = 1;
  }
  SECTION("a sibling of itself") {
    arrays.next_sibling[2] = 2;
  }
  SECTION("a ring that no root leads to") {
    arrays.first_child = {2, 3, -1, 1, 5, -1};
    arrays.next_sibling[1] = -1;
  }
  CHECK_THROWS_AS(arrays.check(), Error);
}

TEST_CASE("token tree arrays are refused where a node has two parents", "[request]") {
  Arrays arrays;
  SECTION("in one tree") {
    arrays.first_child[2] = 3;
  }
  SECTION("in two trees") {
    arrays.first_child[5] = 3;
  }
  SECTION("a tree in a tree") {
    arrays.first_child[3] = 4;
  }
  SECTION("one root twice") {
    arrays.parent_ptr[1] = 0;
  }
  SECTION("a root among another's siblings") {
    arrays.next_sibling[2] = 4;
  }
  const Complaint complaint = error_of([&] { arrays.check(); });
  CHECK(complaint.index.has_value());
}

TEST_CASE("token tree arrays of different lengths are refused", "[request]") {
  Arrays arrays;
  SECTION("first child") {
    arrays.first_child.pop_back();
  }
  SECTION("next sibling") {
    arrays.next_sibling.push_back(-1);
  }
  SECTION("draft tokens") {
    arrays.draft_tokens.pop_back();
  }
  CHECK_THROWS_AS(arrays.check(), Error);
}

}  // namespace tokkos::test
