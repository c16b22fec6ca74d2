// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/safetensors_reader.hpp"
#include "tools/io/safetensors_writer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/error_message.hpp"
#include "tools/tensor_file.hpp"
#include "tools/unprivileged.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using tools::OutputTensor;
using tools::SafetensorsReader;

namespace {

/// The message for a file of these bytes, which has to name the file.
std::string message_for(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string file = folder.file("in.safetensors");
  write_bytes(file, bytes);
  const std::string message = error_message([&] { SafetensorsReader reader(file); });
  CHECK_THAT(message, ContainsSubstring(file));
  CHECK_THAT(message, ContainsSubstring(", expected "));
  return message;
}

std::string message_for_header(const std::string& header, const std::string& data = "") {
  return message_for(TensorFile::bytes_of(header, data));
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

}  // namespace

TEST_CASE("a safetensors file that another writer made is read bit for bit") {
  const TemporaryFolder folder;
  const std::string file = folder.file("in.safetensors");
  TensorFile tensors;
  tensors.add<float>("floats", "F32", {2, 2}, {1.5f, -0.0f, 3e38f, 1e-40f});
  tensors.add<std::int32_t>("integers", "I32", {3}, {-1, 0, 2147483647});
  tensors.add<std::uint8_t>("nothing", "U8", {0, 7}, {});
  tensors.add<double>("scalar", "F64", {}, {2.25});
  tensors.write(file);

  SafetensorsReader reader(file);
  std::vector<float> floats(4);
  reader.read(reader.require("floats"), floats);
  CHECK(floats == std::vector<float>{1.5f, -0.0f, 3e38f, 1e-40f});
  CHECK(std::signbit(floats[1]));
  std::vector<std::int32_t> integers(3);
  reader.read(reader.require("integers"), integers);
  CHECK(integers == std::vector<std::int32_t>{-1, 0, 2147483647});
  CHECK(reader.require("nothing").size() == 0);
  CHECK(reader.require("nothing").shape == std::vector<std::int64_t>{0, 7});
  std::vector<double> scalar(1);
  reader.read_numbers(reader.require("scalar"), 0, scalar);
  CHECK(scalar[0] == 2.25);
  CHECK(reader.find("other") == nullptr);
  CHECK_THAT(error_message([&] { reader.require("other"); }),
             ContainsSubstring("tensor other is missing"));
}

TEST_CASE("no more is read of a tensor than it has") {
  const TemporaryFolder folder;
  const std::string file = folder.file("in.safetensors");
  TensorFile tensors;
  tensors.add<float>("two", "F32", {2}, {1.5f, 2.5f});
  tensors.add<float>("behind", "F32", {2}, {3.5f, 4.5f});
  tensors.write(file);
  SafetensorsReader reader(file);
  const tools::TensorInfo& two = reader.require("two");
  std::vector<float> floats(3, -7.0f);
  CHECK_THAT(error_message([&] { reader.read(two, floats); }),
             ContainsSubstring("tensor two is 8 bytes long, expected 12 bytes"));
  CHECK(floats == std::vector<float>(3, -7.0f));
  std::vector<double> numbers(1, -7.0);
  for (const std::int64_t first : {2, 3, 1000}) {
    CHECK_THAT(error_message([&] { reader.read_numbers(two, first, numbers); }),
               ContainsSubstring("tensor two is 8 bytes long, expected"));
    CHECK(numbers[0] == -7.0);
  }
  reader.read_numbers(two, 1, numbers);
  CHECK(numbers[0] == 2.5);
}

TEST_CASE("16-bit floats are widened exactly") {
  const TemporaryFolder folder;
  const std::string file = folder.file("in.safetensors");
  TensorFile tensors;
  // 1, the smallest subnormal, the largest finite, -infinity
  tensors.add<std::uint16_t>("half", "F16", {4}, {0x3c00, 0x0001, 0x7bff, 0xfc00});
  tensors.add<std::uint16_t>("brain", "BF16", {4}, {0x3f80, 0x0001, 0x7f7f, 0xff80});
  tensors.write(file);
  SafetensorsReader reader(file);
  std::vector<float> values(4);
  reader.read_widened(reader.require("half"), values);
  CHECK(values == std::vector<float>{1.0f, 0x1p-24f, 65504.0f, -INFINITY});
  reader.read_widened(reader.require("brain"), values);
  CHECK(values == std::vector<float>{1.0f, 0x1p-133f, 0x1.fep127f, -INFINITY});
}

TEST_CASE("16-bit floats are widened exactly past one slice of the reader") {
  const TemporaryFolder folder;
  const std::string file = folder.file("in.safetensors");
  std::vector<std::uint16_t> bits(70001);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bits[i] = static_cast<std::uint16_t>(0x3f80 + i % 100);
  }
  TensorFile tensors;
  tensors.add("brain", "BF16", {70001}, bits);
  tensors.write(file);
  SafetensorsReader reader(file);
  std::vector<float> values(bits.size());
  reader.read_widened(reader.require("brain"), values);
  bool same = true;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    same = same && values[i] == 1.0f + static_cast<float>(i % 100) * 0x1p-7f;
  }
  CHECK(same);
}

TEST_CASE("a file that is not there or no file is refused") {
  const TemporaryFolder folder;
  CHECK_THAT(error_message([&] { SafetensorsReader reader(folder.file("none")); }),
             ContainsSubstring(folder.file("none") + " is missing"));
  CHECK_THAT(error_message([&] { SafetensorsReader reader(folder.path().string()); }),
             ContainsSubstring("no regular file"));
}

TEST_CASE("a file that may be there but cannot be reached is not called missing") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  CHECK_THAT(error_message([&] { SafetensorsReader reader(folder.file("loop")); }),
             ContainsSubstring("loop is not readable (Too many levels of symbolic links)"));
  const auto closed = folder.path() / "closed";
  std::filesystem::create_directory(closed);
  write_bytes((closed / "in").string(), "");
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  std::string message;
  {
    const Unprivileged user;
    if (user) message = error_message([&] { SafetensorsReader((closed / "in").string()); });
  }
  std::filesystem::permissions(closed, std::filesystem::perms::owner_all);
  if (message.empty()) SKIP("root may not become another user");
  CHECK_THAT(message, ContainsSubstring("closed/in is not readable (Permission denied)"));
}

TEST_CASE("a truncated file or a header length past the end is refused") {
  CHECK_THAT(message_for(""), ContainsSubstring("0 bytes long"));
  CHECK_THAT(message_for("1234567"), ContainsSubstring("7 bytes long"));
  CHECK_THAT(message_for(std::string(8, '\xff')), ContainsSubstring("header length"));
  CHECK_THAT(message_for(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
             ContainsSubstring("header length is 3, expected at most 2"));
  TensorFile tensors;
  tensors.add<float>("x", "F32", {3}, {1.0f, 2.0f, 3.0f});
  const std::string whole = tensors.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    message_for(whole.substr(0, size));
  }
}

TEST_CASE("a header that is no JSON object of tensors is refused") {
  CHECK_THAT(message_for_header(""), ContainsSubstring("begins with {"));
  CHECK_THAT(message_for_header("[]"), ContainsSubstring("begins with {"));
  CHECK_THAT(message_for_header(" {}"), ContainsSubstring("begins with {"));
  CHECK_THAT(message_for_header("{\"x\":"), ContainsSubstring("no JSON"));
  CHECK_THAT(message_for_header("{\"\xff\":1}"), ContainsSubstring("UTF-8"));
  CHECK_THAT(message_for_header("{\"x\":1}"), ContainsSubstring("tensor x is 1"));
  CHECK_THAT(message_for_header(R"({"__metadata__":{"a":1}})"),
             ContainsSubstring("__metadata__.a"));
  CHECK_THAT(message_for_header(R"({"x":{"dtype":"F32"}})"), ContainsSubstring("shape is missing"));
  CHECK_THAT(message_for_header("{\"x\":" + std::string(100000, '[')),
             ContainsSubstring("depth of the JSON is 4, expected at most 3"));
  const std::string x = R"("x":)" + entry("F32", "[0]", "[0,0]");
  CHECK_THAT(message_for_header("{" + x + "," + x + "}"), ContainsSubstring("a second time"));
}

TEST_CASE("metadata and padding are accepted") {
  const TemporaryFolder folder;
  const std::string file = folder.file("in.safetensors");
  write_bytes(file, TensorFile::bytes_of(R"({"__metadata__":{"format":"pt"}}    )", ""));
  CHECK(SafetensorsReader(file).tensors().empty());
}

TEST_CASE("a tensor with a wrong dtype, field or shape is refused") {
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F99", "[1]", "[0,4]") + "}", "1234"),
             ContainsSubstring("tensor x.dtype is \"F99\""));
  CHECK_THAT(message_for_header(
                 R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"color":1}})", "1234"),
             ContainsSubstring("unknown field \"color\""));
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", "[-1]", "[0,4]") + "}", "1234"),
             ContainsSubstring("tensor x.shape is [-1]"));
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", "3", "[0,4]") + "}", "1234"),
             ContainsSubstring("tensor x.shape is 3, expected an array of integers"));
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", "[1.0]", "[0,4]") + "}", "1234"),
             ContainsSubstring("tensor x.shape"));
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", "[2]", "[0,4]") + "}", "1234"),
             ContainsSubstring("4 bytes as in data_offsets, not 8 bytes"));
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", "[1]", "[0,8]") + "}", "12345678"),
             ContainsSubstring("8 bytes as in data_offsets, not 4 bytes"));
}

TEST_CASE("a name with a line break is one line of an error") {
  for (const char* control : {"\\n", "\\r", "\\u0000", "\\u001b", "\\u007f"}) {
    CAPTURE(control);
    const std::string name = std::string("a") + control + "b";
    CHECK_THAT(
        message_for_header("{\"" + name + "\":" + entry("F99", "[1]", "[0,4]") + "}", "1234"),
        ContainsSubstring("tensor a b.dtype is \"F99\""));
    CHECK_THAT(message_for_header("{\"" + name + "\":{\"shape\":{}}}"),
               ContainsSubstring("tensor a b"));
    CHECK_THAT(message_for_header("{\"" + name + "\":{\"shape\":1e999}}"),
               ContainsSubstring(": a b.shape is 1e999"));
  }
}

TEST_CASE("shapes whose product overflows are refused") {
  for (const char* shape : {"[4611686018427387904,4]", "[4294967296,4294967296]",
                            "[9223372036854775807]", "[65536,65536,65536,65536,1]"}) {
    CAPTURE(shape);
    CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", shape, "[0,0]") + "}"),
               ContainsSubstring("tensor x.shape"));
  }
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", "[18446744073709551616]", "[0,0]") + "}"),
             ContainsSubstring("tensor x.shape"));
}

TEST_CASE("places that overlap, leave holes or lie outside the data are refused") {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"x":)" + entry("F32", "[1]", first) + R"(,"y":)" + entry("F32", "[1]", second) + "}";
  };
  CHECK_THAT(message_for_header(two("[0,4]", "[0,4]"), "12345678"), ContainsSubstring("overlap"));
  CHECK_THAT(message_for_header(two("[0,4]", "[2,6]"), "123456"),
             ContainsSubstring("tensor y.data_offsets is [2,6], expected a begin of 4"));
  CHECK_THAT(message_for_header(two("[0,4]", "[5,9]"), "123456789"), ContainsSubstring("holes"));
  CHECK_THAT(message_for_header(two("[0,4]", "[4,8]"), "123456789"),
             ContainsSubstring("data is 9 bytes, expected 8 bytes"));
  CHECK_THAT(message_for_header(two("[0,4]", "[4,8]"), "1234567"),
             ContainsSubstring("tensor y.data_offsets is [4,8]"));
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", "[1]", "[4,0]") + "}", "1234"),
             ContainsSubstring("data_offsets"));
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", "[1]", "[0,4,8]") + "}", "1234"),
             ContainsSubstring("data_offsets"));
  CHECK_THAT(message_for_header(R"({"x":)" + entry("F32", "[1]", "[0,18446744073709551615]") + "}",
                                "1234"),
             ContainsSubstring("data_offsets"));
}

TEST_CASE("a file is written whole and aligned") {
  const TemporaryFolder folder;
  const std::string file = folder.file("out.safetensors");
  const std::vector<float> floats{1.0f, 2.0f, 3.0f};
  const std::vector<std::int32_t> integers{7};
  std::ostringstream out;
  tools::write_safetensors(out,
                           std::vector<OutputTensor>{{"b", floats, {3}}, {"a", integers, {1}}});
  write_bytes(file, out.str());
  const auto tensors = read_tensor_file(file);
  REQUIRE(tensors.size() == 2);
  CHECK(tensors.at("b").dtype == "F32");
  CHECK(tensors.at("b").as<float>() == floats);
  CHECK(tensors.at("a").dtype == "I32");
  CHECK(tensors.at("a").as<std::int32_t>() == integers);
}

}  // namespace tokkos::test
