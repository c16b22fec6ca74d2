// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify_files.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

TEST_CASE("bonus uniforms are checked under both rules") {
  for (const char* rule : {"seed", "lossless"}) {
    CAPTURE(rule);
    Trees trees;
    trees.bonus_uniforms = {0.5f, 1.0f};
    CHECK_THAT(failure(trees, {"--rule", rule}),
               ContainsSubstring("tensor bonus_uniforms[1] is 1, expected a number in [0, 1)"));
    trees.bonus_uniforms = {0.5f};
    CHECK_THAT(failure(trees, {"--rule", rule}),
               ContainsSubstring("tensor bonus_uniforms is F32 [1], expected F32 [2]"));
    trees.with_bonus = false;
    TensorFile tensors = trees.file();
    tensors.add<std::int32_t>("bonus_uniforms", "I32", {2}, {0, 0});
    CHECK_THAT(failure(tensors, rule), ContainsSubstring("tensor bonus_uniforms is I32 [2]"));
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
    return error_message([&] { tools::run_verify(tools::parse_verify(options), out); });
  };
  TensorFile tensors;
  CHECK_THAT(message(tensors), ContainsSubstring("tensor model_probs is missing"));
  tensors.add<std::uint16_t>("model_probs", "F16", {1, 2}, {0, 0});
  CHECK_THAT(message(tensors),
             EndsWith("tensor model_probs is F16 [1, 2], expected F32 [-1, -1] (-1: any)"));
  tensors = {};
  tensors.add<float>("model_probs", "F32", {0, 524288}, {});
  CHECK_THAT(message(tensors), ContainsSubstring("tensor model_probs is F32 [0, 524288]"));
  for (const std::int64_t nodes : {std::int64_t{0}, std::int64_t{1} << 31}) {
    tensors = {};
    tensors.add<float>("model_probs", "F32", {nodes, 0}, {});
    CHECK_THAT(message(tensors), ContainsSubstring("tensor model_probs is F32 [" +
                                                   std::to_string(nodes) + ", 0], expected"));
  }
  tensors = {};
  tensors.add<float>("model_probs", "F32", {2}, {1.0f, 1.0f});
  CHECK_THAT(message(tensors), ContainsSubstring("tensor model_probs is F32 [2], expected"));
  tensors = {};
  tensors.add<float>("model_probs", "F32", {2, 1}, {1.0f, 1.0f});
  tensors.add<std::int64_t>("draft_tokens", "I64", {2}, {0, 0});
  CHECK_THAT(message(tensors), EndsWith("tensor draft_tokens is I64 [2], expected I32 [2]"));
}

}  // namespace tokkos::test
