// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/error_message.hpp"
#include "tools/replay_files.hpp"

#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

TEST_CASE("tensors of a wrong type, shape or name end before anything is written") {
  Replay replay;
  replay.requests = R"({"requests": [{}, {}]})";
  const std::vector<float> logits(2 * 70, 0.0f);
  const auto add_logits = [&] { replay.input.add("logits", "F32", {2, 70}, logits); };
  std::string expected;
  SECTION("no logits") {
    expected = "tensor logits is missing";
  }
  SECTION("integers as logits") {
    replay.input.add<std::int32_t>("logits", "I32", {2, 1}, {1, 2});
    expected = "tensor logits is I32 [2, 1], expected F32, F16 or BF16 [n, V]";
  }
  SECTION("logits of three dimensions") {
    replay.input.add("logits", "F32", {2, 1, 70}, logits);
    expected = "tensor logits is F32 [2, 1, 70]";
  }
  SECTION("no vocabulary") {
    replay.input.add<float>("logits", "F32", {2, 0}, {});
    expected = "tensor logits is F32 [2, 0]";
  }
  SECTION("a vocabulary that no index holds") {
    replay.input.add<float>("logits", "F32", {0, 4611686018427387904}, {});
    expected = "tensor logits is F32 [0, 4611686018427387904]";
  }
  SECTION("rows that no index holds") {
    replay.input.add<float>("logits", "F32", {2147483648, 0}, {});
    expected = "tensor logits is F32 [2147483648, 0]";
  }
  SECTION("a bitmask of three dimensions") {
    add_logits();
    replay.input.add("bitmask", "I32", {2, 1, 3}, std::vector<std::int32_t>(6));
    expected = "tensor bitmask is I32 [2, 1, 3]";
  }
  SECTION("a bitmask of other rows") {
    add_logits();
    replay.input.add("bitmask", "I32", {3, 3}, std::vector<std::int32_t>(9));
    expected = "tensor bitmask is I32 [3, 3]";
  }
  SECTION("a bitmask that is too narrow") {
    add_logits();
    replay.input.add("bitmask", "I32", {2, 2}, std::vector<std::int32_t>(4));
    expected = "tensor bitmask is I32 [2, 2], expected I32 [2, 3 to 3]";
  }
  SECTION("a bitmask that is too wide") {
    add_logits();
    replay.input.add("bitmask", "I32", {2, 4}, std::vector<std::int32_t>(8));
    expected = "tensor bitmask is I32 [2, 4]";
  }
  SECTION("a bitmask of another type") {
    add_logits();
    replay.input.add("bitmask", "I64", {2, 3}, std::vector<std::int64_t>(6));
    expected = "tensor bitmask is I64 [2, 3]";
  }
  SECTION("too few uniforms") {
    add_logits();
    replay.input.add("uniforms", "F32", {1}, std::vector<float>{0.5f});
    CHECK_THAT(replay.failure(), EndsWith("tensor uniforms is F32 [1], expected F32 [2]"));
    expected = "tensor uniforms is F32 [1], expected F32 [2]";
  }
  SECTION("a uniform of 1") {
    add_logits();
    replay.input.add("uniforms", "F32", {2}, std::vector<float>{0.5f, 1.0f});
    expected = "tensor uniforms[1] is 1, expected a number in [0, 1)";
  }
  SECTION("a uniform that is NaN") {
    add_logits();
    replay.input.add("uniforms", "F32", {2}, std::vector<float>{NAN, 0.0f});
    expected = "tensor uniforms[0] is nan";
  }
  SECTION("a tensor that replay does not know") {
    add_logits();
    replay.input.add("bitmaks", "I32", {2, 3}, std::vector<std::int32_t>(6));
    expected = "tensor bitmaks is unknown, expected only logits, bitmask, uniforms";
  }
  CHECK_THAT(replay.failure(), ContainsSubstring("in.safetensors: " + expected));
}

TEST_CASE("wrong options of replay end before anything is written") {
  Replay replay;
  replay.input.add<float>("logits", "F32", {1, 2}, {0.0f, 1.0f});
  replay.requests = R"({"requests": [{}]})";
  const auto message = [&](std::vector<std::string> options) { return replay.failure(options); };
  CHECK_THAT(message({"--repeat", "0"}), ContainsSubstring("--repeat is 0, expected an integer"));
  CHECK_THAT(message({"--repeat", "2x"}), ContainsSubstring("--repeat is 2x"));
  CHECK_THAT(message({"--repeat", "-1"}), ContainsSubstring("--repeat is -1"));
  CHECK_THAT(message({"--truncated", "--no-probs"}),
             ContainsSubstring("--truncated is given, expected one of --truncated and --no-probs"));
  CHECK_THAT(message({"--fast"}), ContainsSubstring("fast"));
  CHECK_THAT(message({"--logits"}), ContainsSubstring("logits"));
  CHECK_THAT(message({"stray"}), ContainsSubstring("argument is \"stray\""));
  CHECK_THAT(message({"--output", "again"}), ContainsSubstring("--output is given 2 times"));
  CHECK_THAT(message({"--compare", replay.folder.file("none")}),
             ContainsSubstring("none is missing"));
  std::ostringstream out;
  CHECK_THAT(error_message([&] { tools::run_replay(tools::parse_replay({}), out); }),
             ContainsSubstring("--output is missing"));
  const std::vector<std::string> arguments{"--help"};
  const tools::OptionSet options = tools::parse_replay(arguments);
  CHECK(options.wants_help());
  for (const char* word : {"Philox", "seed", "id", "position"}) {
    CHECK_THAT(options.help(), ContainsSubstring(word));
  }
  for (const char* option : {"--logits", "--requests", "--output", "--no-probs", "--truncated",
                             "--compare", "--repeat", "--strict", "--threads"}) {
    CHECK_THAT(options.help(), ContainsSubstring(option));
  }
}

}  // namespace tokkos::test
