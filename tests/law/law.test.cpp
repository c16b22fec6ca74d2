// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// The law of verification, exactly: see exact_law.hpp. Every tree of at most five drafted nodes.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "law/exact_law.hpp"
#include "law/law_tally.hpp"

namespace tokkos::test {
namespace {

constexpr int most_drafted = 5;

struct WayOfDrafting {
  const char* name;
  Drafting drafting;
};

constexpr WayOfDrafting ways[] = {
    {"with replacement", Drafting::with_replacement},
    {"with replacement from shared rows", Drafting::shared_row},
    {"without replacement", Drafting::without_replacement},
    {"without replacement from shared rows", Drafting::shared_row_without_replacement},
    {"chosen", Drafting::chosen},
    {"drawn and chosen", Drafting::mixed},
    {"drawn without replacement and chosen", Drafting::mixed_without_replacement}};

/// Checks every shape of at most `drafted` nodes.
LawResult check_shapes(int vocabulary, int drafted, Drafting drafting, Target target,
                       std::uint64_t seed = 0, const TreeVerifier& verifier = verify_by_kernel,
                       int active = 0) {
  LawResult result;
  seed += static_cast<std::uint64_t>(100 * vocabulary);
  for (int nodes = 0; nodes <= drafted; ++nodes) {
    for (const TreeShape& shape : tree_shapes(nodes)) {
      CAPTURE(vocabulary, shape.parent, seed);
      const LawResult own =
          exact_law({vocabulary, shape, drafting, target, seed++, active}, verifier);
      CHECK(own.total_variation <= 2e-6);
      CHECK(own.forbidden_mass == 0);
      CHECK(own.incomplete_laws == 0);
      CHECK(own.wrong_corners == 0);
      result.add(own);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("emitted tokens follow the target's law, exactly", "[law]") {
  const WayOfDrafting way = GENERATE(from_range(std::begin(ways), std::end(ways)));
  CAPTURE(way.name);
  LawResult result;
  for (const int vocabulary : {1, 2, 3}) {
    result.add(check_shapes(vocabulary, most_drafted, way.drafting, Target::table));
  }
  result.add(check_shapes(4, 4, way.drafting, Target::table));
  result.add(check_shapes(5, 3, way.drafting, Target::table));
  tell(way.name, result);
}

TEST_CASE("penalties and masks along paths leave the target's law, exactly", "[law]") {
  const WayOfDrafting way = GENERATE(from_range(std::begin(ways), std::end(ways)));
  CAPTURE(way.name);
  LawResult result;
  for (const int vocabulary : {1, 2, 3}) {
    result.add(check_shapes(vocabulary, most_drafted, way.drafting, Target::edited));
  }
  result.add(check_shapes(4, 3, way.drafting, Target::edited));
  tell(std::string(way.name) + ", edited", result);
}

TEST_CASE("what an engine's verifier emits follows the target's law, exactly", "[law]") {
  const WayOfDrafting way = GENERATE(from_range(std::begin(ways), std::end(ways)));
  CAPTURE(way.name);
  LawResult result = check_shapes(2, 4, way.drafting, Target::table, 0, verify_by_engine);
  result.add(check_shapes(3, 3, way.drafting, Target::edited, 0, verify_by_engine));
  tell(std::string(way.name) + ", by DraftVerifier", result);
}

TEST_CASE("drafts of tokens that only the drafter knows leave the target's law, exactly", "[law]") {
  const WayOfDrafting way = GENERATE(from_range(std::begin(ways), std::end(ways)));
  CAPTURE(way.name);
  LawResult result;
  for (const auto& [vocabulary, active, drafted] :
       {std::array{2, 1, 4}, std::array{3, 2, 3}, std::array{4, 2, 3}}) {
    const TreeVerifier verifier = [tokens = active](const VerifyCase& c) {
      return verify_padded(c, tokens);
    };
    result.add(check_shapes(vocabulary, drafted, way.drafting, Target::table, 0, verifier, active));
  }
  tell(std::string(way.name) + ", with padding", result);
}

TEST_CASE("tokens of several chunks follow the target's law, exactly", "[law]") {
  const WayOfDrafting way = GENERATE(from_range(std::begin(ways), std::end(ways)));
  CAPTURE(way.name);
  const LawResult result = check_shapes(3, 2, way.drafting, Target::table, 0, verify_in_chunks);
  tell(std::string(way.name) + ", in three chunks", result);
}

TEST_CASE("tokens of several chunks follow the target's law, exactly, at more sizes",
          "[law][slow]") {
  const WayOfDrafting way = GENERATE(from_range(std::begin(ways), std::end(ways)));
  CAPTURE(way.name);
  LawResult result = check_shapes(2, 3, way.drafting, Target::edited, 0, verify_in_chunks);
  result.add(check_shapes(5, 2, way.drafting, Target::table, 7, verify_in_chunks));
  tell(std::string(way.name) + ", in three chunks", result);
}

TEST_CASE("emitted tokens follow the target's law, exactly, at every size", "[law][slow]") {
  const WayOfDrafting way = GENERATE(from_range(std::begin(ways), std::end(ways)));
  const std::uint64_t seed = GENERATE(1, 2000, 4001);
  CAPTURE(way.name);
  LawResult result;
  for (const int vocabulary : {1, 2, 3, 4, 5}) {
    for (const Target target : {Target::table, Target::edited}) {
      result.add(check_shapes(vocabulary, most_drafted, way.drafting, target, seed));
    }
  }
  tell(std::string(way.name) + ", every size, seed " + std::to_string(seed), result);
}

}  // namespace tokkos::test
