// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify_files.hpp"

#include "tools/command/bad_rows.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tools/replay_reference.hpp"

namespace tokkos::test {

namespace {

using Integers = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("verify rejects by the seed's rule and rewrites the row in place") {
  const TemporaryFolder folder;
  const Trees trees;
  // Child 1: 0.25 < 0.75 * 0.5, so row 0 becomes max(p - q, 0) / R = (0, 0, 1, 0), R = 0.25.
  // Child 2: 0 < 0.75 * 0.5, so it becomes (0, 0, 1, 0) / 1.
  const auto out = verify(trees, folder);
  CHECK(out.size() == 4);
  auto left = trees.model_probs;
  left[0] = left[1] = left[3] = 0.0f;
  left[2] = 1.0f;
  CHECK(out.at("model_probs").as<float>() == left);
  CHECK(out.at("token_tree_parent_ptr").as<std::int32_t>() == Integers{0, 3});
  CHECK(out.at("accepted").as<std::int32_t>() == Integers{0, 0});
  CHECK(out.at("row_status").as<std::int32_t>() == Integers{0, 0});
}

TEST_CASE("verify draws the bonus token from what is left by the lossless rule") {
  const TemporaryFolder folder;
  Trees trees;
  trees.uniforms[2] = 0.0f;  // even a uniform of 0 accepts no token of probability 0
  const auto out = verify(trees, folder, {"--rule", "lossless"});
  CHECK(out.at("accepted").as<std::int32_t>() == Integers{0, 0});
  CHECK(out.at("bonus_tokens").as<std::int32_t>() == Integers{2, 1});
  CHECK(out.at("model_probs").as<float>()[2] == 1.0f);

  // The seed's rule accepts it.
  const auto seed = verify(trees, folder, {"--rule", "seed"});
  CHECK(seed.at("accepted").as<std::int32_t>() == Integers{1, 0});
  CHECK(seed.at("token_tree_parent_ptr").as<std::int32_t>() == Integers{2, 3});
  CHECK_FALSE(seed.contains("bonus_tokens"));
}

TEST_CASE("verify accepts a path and counts its nodes") {
  const TemporaryFolder folder;
  Trees trees;
  trees.first_child = {1, 2, -1, -1};
  trees.next_sibling = {-1, -1, -1, -1};
  trees.draft_tokens = {0, 1, 3, 0};
  trees.uniforms = {0.0f, 0.75f, 0.75f, 0.0f};  // 0.75 * 0.5 < 0.5 and 0.75 * 0.5 < 1
  for (const char* rule : {"seed", "lossless"}) {
    CAPTURE(rule);
    const auto out = verify(trees, folder, {"--rule", rule});
    CHECK(out.at("accepted").as<std::int32_t>() == Integers{2, 0});
    CHECK(out.at("token_tree_parent_ptr").as<std::int32_t>() == Integers{2, 3});
    CHECK(out.at("model_probs").as<float>() == trees.model_probs);
  }
  const auto out = verify(trees, folder, {"--rule", "lossless"});
  CHECK(out.at("bonus_tokens").as<std::int32_t>() == Integers{0, 1});
}

TEST_CASE("without bonus_uniforms the bonus token is drawn by Philox with key 0") {
  const TemporaryFolder folder;
  Trees trees;
  trees.nodes = 8;
  trees.vocabulary = 1024;  // a uniform row: the token is floor(1024 u)
  const auto size = static_cast<std::size_t>(trees.nodes * trees.vocabulary);
  trees.draft_probs.assign(size, 0.0f);
  trees.model_probs.assign(size, 1.0f / 1024.0f);
  trees.draft_tokens.assign(8, 0);
  trees.first_child.assign(8, -1);
  trees.next_sibling.assign(8, -1);
  trees.uniforms.assign(8, 0.0f);
  trees.parent_ptr = {7, 6, 5, 4, 3, 2, 1, 0};
  trees.with_bonus = false;
  Integers expected;
  for (std::uint32_t tree = 0; tree < 8; ++tree) {
    expected.push_back(static_cast<std::int32_t>(1024.0f * reference_philox(0, 0, tree, 3, 0)));
  }
  const auto out = verify(trees, folder, {"--rule", "lossless"});
  CHECK(out.at("bonus_tokens").as<std::int32_t>() == expected);
}

TEST_CASE("a tree with bad probabilities gets a status that strict refuses") {
  const TemporaryFolder folder;
  Trees trees;
  trees.model_probs[0] = NAN;
  const auto out = verify(trees, folder);
  CHECK(out.at("row_status").as<std::int32_t>() == Integers{256, 0});
  CHECK(out.at("model_probs").as<float>()[1] == 0.0f);
  CHECK_THROWS_AS(verify(trees, folder, {"--strict"}), tools::BadStatus);
}

TEST_CASE("a row that ends a walk by its probabilities is written as zeros") {
  const TemporaryFolder folder;
  const auto zeroed = [&](const Trees& trees, std::size_t row) {
    auto left = trees.model_probs;
    for (std::size_t v = 0; v < 4; ++v) left[4 * row + v] = 0.0f;
    const auto out = verify(trees, folder, {"--rule", "lossless"});
    CHECK(out.at("model_probs").as<float>() == left);
    return out;
  };
  SECTION("while a child is judged") {
    Trees trees;
    trees.model_probs[3] = NAN;
    const auto out = zeroed(trees, 0);
    CHECK(out.at("row_status").as<std::int32_t>() == Integers{256, 0});
    CHECK(out.at("bonus_tokens").as<std::int32_t>() == Integers{-1, 1});
  }
  SECTION("while the bonus token is drawn") {
    Trees trees;
    trees.uniforms[1] = 0.0f;          // accepts node 1, a leaf
    trees.model_probs[4 + 1] = 0.25f;  // whose row then sums to 1.25
    const auto out = zeroed(trees, 1);
    CHECK(out.at("row_status").as<std::int32_t>() == Integers{256, 0});
    CHECK(out.at("accepted").as<std::int32_t>() == Integers{1, 0});
  }
  SECTION("by the draft's probabilities") {
    Trees trees;
    trees.draft_probs[4 + 2] = -0.5f;
    CHECK(zeroed(trees, 0).at("row_status").as<std::int32_t>() == Integers{256, 0});
  }
}

TEST_CASE("zero trees are legal") {
  const TemporaryFolder folder;
  Trees trees;
  trees.nodes = 0;
  trees.draft_probs.clear();
  trees.model_probs.clear();
  trees.draft_tokens.clear();
  trees.first_child.clear();
  trees.next_sibling.clear();
  trees.uniforms.clear();
  trees.parent_ptr.clear();
  trees.bonus_uniforms.clear();
  for (const char* rule : {"seed", "lossless"}) {
    const auto out = verify(trees, folder, {"--rule", rule});
    CHECK(out.at("model_probs").shape == std::vector<std::int64_t>{0, 4});
    CHECK(out.at("accepted").shape == std::vector<std::int64_t>{0});
  }
}

}  // namespace tokkos::test
