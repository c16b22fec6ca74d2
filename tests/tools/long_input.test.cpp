// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/error_message.hpp"
#include "tools/io/safetensors_reader.hpp"
#include "tools/replay/request_file.hpp"
#include "tools/replay_files.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Where the time of a parse grows with the square of the length, each of the first two takes
// minutes.

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using tools::SafetensorsReader;

namespace {

constexpr std::size_t many = 200'000;

}  // namespace

TEST_CASE("a file of very many tensors is read in one go") {
  const TemporaryFolder folder;
  const std::string file = folder.file("in.safetensors");
  std::string header = R"({"logits":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  for (std::size_t i = 0; i < many; ++i) {
    header += ",\"t" + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[4,4]})";
  }
  write_bytes(file, TensorFile::bytes_of(header + "}", "1234"));
  const SafetensorsReader reader(file);
  CHECK(reader.tensors().size() == many + 1);
  CHECK(reader.require("t199999").begin == 4);
}

TEST_CASE("very many requests are read in one go") {
  std::string text = R"({"requests":[{"id":"first")";
  for (std::size_t i = 1; i < many; ++i) text += R"(},{"prompt_token_ids":[3])";
  const auto requests =
      tools::parse_request_file(text + "}]}", "r", static_cast<std::int64_t>(many), 10);
  CHECK(requests.ids.size() == many);
  CHECK(requests.histories.back().prompt().size() == 1);
}

TEST_CASE("messages are short, whatever the tensors are") {
  const std::vector<std::int64_t> ones(100'000, 1);
  const std::string long_name(100'000, 'n');
  Replay replay;
  replay.requests = R"({"requests":[{}]})";
  SECTION("very many dimensions") {
    replay.input.add("logits", "F32", ones, std::vector<float>{1.0f});
    const std::string message = replay.failure();
    CHECK_THAT(message, ContainsSubstring("F32 [1, 1, 1, 1, 1, 1, 1, 1, ... 100000 extents]"));
    CHECK(message.size() < 500);
  }
  SECTION("a long name that is unknown") {
    replay.input.add("logits", "F32", {1, 1}, std::vector<float>{1.0f});
    replay.input.add(long_name, "F32", {1}, std::vector<float>{1.0f});
    CHECK(replay.failure().size() < 500);
  }
  SECTION("a long name of a tensor that is wrong") {
    replay.input.add(long_name, "F33", {1}, std::vector<float>{1.0f});
    CHECK(replay.failure().size() < 500);
  }
  SECTION("a long name of a tensor in the wrong place") {
    const std::string header =
        "{\"" + long_name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
    const std::string file = replay.folder.file("x");
    write_bytes(file, TensorFile::bytes_of(header, "12"));
    CHECK(error_message([&] { SafetensorsReader reader(file); }).size() < 500);
  }
  SECTION("a long key of the metadata") {
    const std::string file = replay.folder.file("x");
    write_bytes(file, TensorFile::bytes_of(R"({"__metadata__":{")" + long_name + "\":1}}", ""));
    CHECK(error_message([&] { SafetensorsReader reader(file); }).size() < 500);
  }
}

}  // namespace tokkos::test
