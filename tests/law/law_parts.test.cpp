// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// What the exact laws are computed with.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include "law/law_draft.hpp"

namespace tokkos::test {

TEST_CASE("every ordered tree is enumerated once", "[law]") {
  const std::size_t catalan[] = {1, 1, 2, 5, 14, 42, 132};
  for (int drafted = 0; drafted <= 6; ++drafted) {
    std::set<std::vector<int>> distinct;
    for (const TreeShape& shape : tree_shapes(drafted)) {
      REQUIRE(shape.drafted() == drafted);
      distinct.insert(shape.parent);
      // Numbered along a walk: what follows a node is its child or hangs at one of its ancestors.
      for (int node = 1; node < shape.nodes(); ++node) {
        int ancestor = node - 1;
        while (ancestor > shape.parent[node]) ancestor = shape.parent[ancestor];
        CHECK(ancestor == shape.parent[node]);
      }
    }
    CHECK(distinct.size() == catalan[drafted]);
    CHECK(tree_shapes(drafted).size() == catalan[drafted]);
  }
}

TEST_CASE("wide integers add, subtract, multiply and compare", "[law]") {
  WideInteger factorial = 1;  // of 100, below 2^526
  for (std::uint64_t i = 1; i <= 100; ++i) factorial *= i;
  WideInteger other = 1;
  for (std::uint64_t i = 100; i >= 1; i -= 2) other *= i * (i - 1);
  CHECK(factorial == other);
  CHECK(ratio(factorial, factorial * 3) == 1.0 / 3);
  CHECK(std::abs(ratio(factorial, 1) / 9.33262154439441e157 - 1) < 1e-14);

  const std::uint64_t large = ~std::uint64_t{0};
  WideInteger square = large;
  square *= large;  // (2^64 - 1)^2 = 2^128 - 2^65 + 1
  WideInteger expected = WideInteger(std::uint64_t{1} << 63) * (std::uint64_t{1} << 63) * 4;
  expected -= WideInteger(std::uint64_t{1} << 63) * 4;
  expected += 1;
  CHECK(square == expected);
  CHECK(square < expected * 2);
  CHECK(distance(square, 0) == square);
  CHECK(distance(WideInteger(5), 7) == WideInteger(2));

  WideInteger top = 1;
  for (int i = 0; i < 639; ++i) top *= 2;
  CHECK_THROWS_AS(top * 2, std::overflow_error);
  CHECK_THROWS_AS(top * (std::uint64_t{1} << 40), std::overflow_error);
  CHECK_THROWS_AS(WideInteger(top) += top, std::overflow_error);
  CHECK_THROWS_AS(WideInteger(1) -= 2, std::overflow_error);
}

TEST_CASE("the drafts of a law have the exact probability 1 together", "[law]") {
  for (const Drafting drafting : {Drafting::with_replacement, Drafting::without_replacement,
                                  Drafting::mixed, Drafting::dropped_duplicates}) {
    for (const TreeShape& shape : tree_shapes(4)) {
      const LawProblem problem{3, shape, drafting, Target::table, 11};
      WideInteger sum = 0, one = 1;
      for (const LawDraft& draft : all_drafts(problem, LawTables(problem))) sum += draft.weight;
      for (int i = 0; i < 4; ++i) one *= LawTables::draft_scale;
      CHECK(sum == one);
    }
  }
}

TEST_CASE("the worlds have forbidden tokens, certain ones, and drafts that are just right",
          "[law]") {
  int rows = 0, holes = 0, certain = 0, equal = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const LawTables tables(
        {3, tree_shapes(2).back(), Drafting::with_replacement, Target::table, seed});
    for (std::size_t prefix = 0; prefix < 4; ++prefix) {
      const WholeRow& p = tables.target(prefix);
      const WholeRow& q = tables.draft(prefix);
      ++rows;
      holes += std::ranges::count(p.weight, 0u) > 0 ? 1 : 0;
      certain += std::ranges::count(p.weight, p.total) > 0 ? 1 : 0;
      equal += p.probabilities() == q.probabilities() ? 1 : 0;
    }
  }
  CHECK(rows == 80);
  CHECK(holes > 10);
  CHECK(certain > 3);
  CHECK(equal > 1);
}

}  // namespace tokkos::test
