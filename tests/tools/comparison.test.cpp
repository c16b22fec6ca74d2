// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/comparison.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/error_message.hpp"
#include "tools/tensor_file.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using tools::OutputTensor;

namespace {

std::string compare(const TensorFile& other, const std::vector<OutputTensor>& ours,
                    std::int64_t active_vocabulary = 3) {
  const TemporaryFolder folder;
  const std::string file = folder.file("other.safetensors");
  other.write(file);
  tools::SafetensorsReader reader(file);
  std::ostringstream out;
  tools::compare_with_file(reader, ours, active_vocabulary, out);
  return out.str();
}

}  // namespace

TEST_CASE("a comparison names the first and the worst disagreement") {
  const std::vector<float> probs{0.25f, 0.5f, 0.25f, 1.0f, 0.0f, 0.0f};
  TensorFile other;
  other.add<float>("probs", "F32", {2, 3}, {0.25f, 0.375f, 0.25f, 0.5f, 0.0f, 0.25f});
  CHECK(compare(other, {{"probs", probs, {2, 3}}}) ==
        "probs  3 of 6 differ; first [0, 1] 0.5 against 0.375 (difference 0.125); "
        "worst [1, 0] 1 against 0.5 (difference 0.5)\n");
}

TEST_CASE("other types of the same kind are compared by value") {
  const std::vector<std::int32_t> tokens{5, -1, 7};
  const std::vector<float> probs{0.5f, 1.5f};
  TensorFile other;
  other.add<std::int64_t>("tokens", "I64", {3}, {5, -1, 8});
  other.add<std::uint16_t>("probs", "F16", {2}, {0x3800, 0x3e00});
  const std::string text = compare(other, {{"tokens", tokens, {3}}, {"probs", probs, {2}}});
  CHECK_THAT(text, ContainsSubstring("tokens  1 of 3 differ; first [2] 7 against 8"));
  CHECK_THAT(text, ContainsSubstring("probs  0 of 2 differ\n"));
}

TEST_CASE("a NaN against a number is the worst disagreement") {
  const std::vector<float> sums{1.0f, NAN, NAN, 0.0f};
  TensorFile other;
  other.add<float>("log_sum_exp", "F32", {4}, {3.0f, NAN, 2.0f, -0.0f});
  const std::string text = compare(other, {{"log_sum_exp", sums, {4}}});
  CHECK_THAT(text, ContainsSubstring("2 of 4 differ; first [0] 1 against 3"));
  CHECK_THAT(text, ContainsSubstring("worst [2] nan against 2 (difference inf)"));
}

TEST_CASE(
    "forbidden logits agree however they are stored, and tokens that do not exist are left out") {
  const std::vector<float> logits{-FLT_MAX, 1.0f, -INFINITY, 9.0f};
  TensorFile other;
  other.add<float>("logits", "F32", {1, 4}, {-INFINITY, 1.0f, -FLT_MAX, 8.0f});
  CHECK(compare(other, {{"logits", logits, {1, 4}}}) == "logits  0 of 3 differ\n");
}

TEST_CASE("tensors that only one side has are named") {
  const std::vector<float> probs{1.0f};
  TensorFile other;
  other.add<float>("hidden", "F32", {1}, {1.0f});
  const std::string text = compare(other, {{"probs", probs, {1}}});
  CHECK_THAT(text, ContainsSubstring("probs  not in "));
  CHECK_THAT(text, ContainsSubstring("hidden  only in "));
}

TEST_CASE("a name that only the other side has is one line") {
  const std::vector<float> probs{1.0f};
  TensorFile other;
  other.add<float>("probs", "F32", {1}, {1.0f});
  other.add<float>("x\\nprobs  0 of 400 differ", "F32", {1}, {1.0f});
  const std::string text = compare(other, {{"probs", probs, {1}}});
  CHECK_THAT(text, ContainsSubstring("x probs  0 of 400 differ  only in "));
  CHECK(std::ranges::count(text, '\n') == 2);
}

TEST_CASE("tensors of another shape or kind cannot be compared") {
  const std::vector<float> probs{1.0f, 0.0f};
  TensorFile shape;
  shape.add<float>("probs", "F32", {1, 2}, {1.0f, 0.0f});
  CHECK_THAT(error_message([&] {
               compare(shape, {{"probs", probs, {2}}});
             }),
             ContainsSubstring("tensor probs is F32 [1, 2], expected F32 [2]"));
  TensorFile kind;
  kind.add<std::int32_t>("probs", "I32", {2}, {1, 0});
  CHECK_THAT(error_message([&] {
               compare(kind, {{"probs", probs, {2}}});
             }),
             ContainsSubstring("any float type"));
  TensorFile exotic;
  exotic.add<std::uint8_t>("probs", "F8_E4M3", {2}, {1, 0});
  CHECK_THAT(error_message([&] {
               compare(exotic, {{"probs", probs, {2}}});
             }),
             ContainsSubstring("a type that can be compared"));
}

}  // namespace tokkos::test
