// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/command/bad_rows.hpp"
#include "tools/error_message.hpp"
#include "tools/replay_reference.hpp"
#include "tools/tensor_file.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;

namespace {

/// Draft trees whose numbers are all exact in binary, so that every step can be checked by hand.
struct Trees {
  std::int64_t nodes = 4;
  std::int64_t vocabulary = 4;
  // Tree 0: root 0 with children 1 and 2; tree 1: root 3 alone.
  std::vector<float> draft_probs{9.f, 9.f,  9.f, 9.f,  0.5f, 0.5f, 0.f, 0.f,
                                 0.f, 0.5f, 0.f, 0.5f, 9.f,  9.f,  9.f, 9.f};
  std::vector<float> model_probs{0.25f, 0.5f, 0.25f, 0.f, 0.f,  0.f,   0.f,   1.f,
                                 1.f,   0.f,  0.f,   0.f, 0.5f, 0.25f, 0.25f, 0.f};
  std::vector<std::int32_t> draft_tokens{-7, 0, 1, 1000};
  std::vector<std::int32_t> first_child{1, -1, -1, -1};
  std::vector<std::int32_t> next_sibling{-1, 2, -1, -1};
  std::vector<float> uniforms{NAN, 0.75f, 0.75f, 5.0f};
  std::vector<std::int32_t> parent_ptr{0, 3};
  std::vector<float> bonus_uniforms{0.5f, 0.625f};
  bool with_bonus = true;
  std::string extra;

  TensorFile file() const {
    TensorFile file;
    file.add("draft_probs", "F32", {nodes, vocabulary}, draft_probs);
    file.add("draft_tokens", "I32", {nodes}, draft_tokens);
    file.add("model_probs", "F32", {nodes, vocabulary}, model_probs);
    file.add("token_tree_first_child", "I32", {nodes}, first_child);
    file.add("token_tree_next_sibling", "I32", {nodes}, next_sibling);
    file.add("uniform_samples", "F32", {nodes}, uniforms);
    file.add("token_tree_parent_ptr", "I32", {static_cast<std::int64_t>(parent_ptr.size())},
             parent_ptr);
    if (with_bonus) {
      file.add("bonus_uniforms", "F32", {static_cast<std::int64_t>(bonus_uniforms.size())},
               bonus_uniforms);
    }
    if (!extra.empty()) file.add<float>(extra, "F32", {0}, {});
    return file;
  }
};

std::map<std::string, StoredTensor> verify(const Trees& trees, const TemporaryFolder& folder,
                                           std::vector<std::string> options = {}) {
  trees.file().write(folder.file("tree.safetensors"));
  const std::vector<std::string> files{"--tree", folder.file("tree.safetensors"), "--output",
                                       folder.file("out.safetensors")};
  options.insert(options.begin(), files.begin(), files.end());
  std::ostringstream out;
  tools::run_verify(options, out);
  return read_tensor_file(folder.file("out.safetensors"));
}

std::string failure(const Trees& trees, const std::vector<std::string>& options = {}) {
  const TemporaryFolder folder;
  const std::string message = error_message([&] { verify(trees, folder, options); });
  CHECK_FALSE(std::filesystem::exists(folder.file("out.safetensors")));
  return message;
}

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
  CHECK_THROWS_AS(verify(trees, folder, {"--strict"}), tools::BadStatus);
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

TEST_CASE("wrong trees end before anything is written") {
  const auto message = [](auto change) {
    Trees trees;
    change(trees);
    return failure(trees, {"--rule", "lossless"});
  };
  CHECK_THAT(message([](Trees& t) { t.draft_tokens[1] = 4; }),
             ContainsSubstring("tree.safetensors: draft_tokens[1] is 4"));
  CHECK_THAT(message([](Trees& t) { t.draft_tokens[1] = -1; }),
             ContainsSubstring("draft_tokens[1] is -1"));
  CHECK_THAT(message([](Trees& t) { t.first_child[1] = 4; }), ContainsSubstring("[1] is 4"));
  CHECK_THAT(message([](Trees& t) { t.next_sibling[2] = -2; }), ContainsSubstring("[2] is -2"));
  CHECK_THAT(message([](Trees& t) { t.parent_ptr[1] = 4; }), ContainsSubstring("[1] is 4"));
  CHECK_THAT(message([](Trees& t) { t.parent_ptr[1] = 0; }), ContainsSubstring("tree.safetensors"));
  CHECK_THAT(message([](Trees& t) { t.next_sibling[2] = 1; }),
             ContainsSubstring("tree.safetensors"));
  CHECK_THAT(message([](Trees& t) { t.first_child[2] = 1; }),
             ContainsSubstring("tree.safetensors"));
  CHECK_THAT(message([](Trees& t) { t.uniforms[2] = 1.0f; }),
             ContainsSubstring("tensor uniform_samples[2] is 1, expected a number in [0, 1)"));
  CHECK_THAT(message([](Trees& t) { t.uniforms[1] = NAN; }),
             ContainsSubstring("tensor uniform_samples[1] is nan"));
  CHECK_THAT(message([](Trees& t) { t.bonus_uniforms[1] = -0.5f; }),
             ContainsSubstring("tensor bonus_uniforms[1] is -0.5"));
  CHECK_THAT(message([](Trees& t) { t.bonus_uniforms.pop_back(); }),
             ContainsSubstring("tensor bonus_uniforms is F32 [1], expected F32 [2]"));
  CHECK_THAT(message([](Trees& t) { t.extra = "probs"; }),
             ContainsSubstring("tensor probs is unknown"));
  CHECK_THAT(failure(Trees(), {"--rule", "greedy"}),
             ContainsSubstring("--rule is \"greedy\", expected seed or lossless"));
}

TEST_CASE("tree tensors of a wrong type or shape are refused") {
  const TemporaryFolder folder;
  const std::string file = folder.file("tree.safetensors");
  const auto message = [&](const TensorFile& tensors) {
    tensors.write(file);
    std::ostringstream out;
    const std::vector<std::string> options{"--tree", file, "--output", folder.file("out")};
    return error_message([&] { tools::run_verify(options, out); });
  };
  TensorFile tensors;
  CHECK_THAT(message(tensors), ContainsSubstring("tensor model_probs is missing"));
  tensors.add<std::uint16_t>("model_probs", "F16", {1, 2}, {0, 0});
  CHECK_THAT(message(tensors), ContainsSubstring("tensor model_probs is F16 [1, 2], expected F32"));
  tensors = {};
  tensors.add<float>("model_probs", "F32", {0, 524288}, {});
  CHECK_THAT(message(tensors), ContainsSubstring("tensor model_probs is F32 [0, 524288]"));
  tensors = {};
  tensors.add<float>("model_probs", "F32", {2, 1}, {1.0f, 1.0f});
  tensors.add<std::int64_t>("draft_tokens", "I64", {2}, {0, 0});
  CHECK_THAT(message(tensors),
             ContainsSubstring("tensor draft_tokens is I64 [2], expected I32 [2]"));
}

}  // namespace tokkos::test
