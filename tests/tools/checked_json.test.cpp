// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/checked_json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/error_message.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using tools::parse_json;
using tools::shortened;

namespace {

std::string message_for(const std::string& text) {
  return error_message([&] { parse_json(text, "f", 4); });
}

}  // namespace

TEST_CASE("JSON is read as it stands") {
  CHECK(parse_json("null", "f", 1) == json(nullptr));
  CHECK(parse_json("-3", "f", 1) == json(-3));
  CHECK(parse_json("18446744073709551615", "f", 1).get<std::uint64_t>() ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(parse_json("18446744073709551616", "f", 1).is_number_float());
  CHECK(parse_json("[]", "f", 1) == json::array());
  const json value =
      parse_json(R"({"b":[1,-2,2.5,{"x":{}},[]],"a":{"b":true,"c":false},"":"t\u00e4"})", "f", 4);
  REQUIRE(value.size() == 3);
  CHECK(value["b"].size() == 5);
  CHECK(value["b"][0].is_number_unsigned());
  CHECK(value["b"][1] == -2);
  CHECK(value["b"][2] == 2.5);
  CHECK(value["b"][3]["x"] == json::object());
  CHECK(value["b"][4] == json::array());
  CHECK(value["a"]["b"] == true);
  CHECK(value["a"]["c"] == false);
  CHECK(value[""] == "t\xc3\xa4");
}

TEST_CASE("a key may stand again in another object but not in the same") {
  CHECK(parse_json(R"({"a":{"a":[{"a":1},{"a":2}]}})", "f", 5)["a"]["a"][1]["a"] == 2);
  CHECK_THAT(message_for(R"({"a":1,"b":{"a":2},"a":3})"),
             ContainsSubstring("f: JSON key is \"a\" a second time"));
}

TEST_CASE("a number that no double holds is named by its place") {
  const std::string nines(400, '9');
  const std::pair<std::string, std::string> cases[] = {
      {R"({"requests":[{},{"a":[1],"temperature":1e999}]})",
       "f: requests[1].temperature is 1e999, expected a number"},
      {R"({"a":[[1],[2,3,-1e999]]})", "f: a[1][2] is -1e999"},
      {"1e999", "f is 1e999"},
      {"[" + nines + "]", "f[0] is 999"},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK_THAT(message_for(text), ContainsSubstring(expected));
    CHECK(message_for(text).size() < 200);
  }
}

TEST_CASE("messages about JSON are short, whatever the file holds") {
  const std::string long_word(100'000, 'x');
  for (const std::string& text : {"\"" + long_word + "\xff\"", "{\"" + long_word + "\":1e999}",
                                  "{\"" + long_word + "\":1,\"" + long_word + "\":2}",
                                  "[" + std::string(100'000, '9') + "]", "{\"a\":\"" + long_word}) {
    const std::string message = message_for(text);
    CHECK(message.size() < 400);
    CHECK_THAT(message, ContainsSubstring(", expected "));
  }
}

TEST_CASE("a NUL byte is no end of the JSON") {
  const std::string nul(1, '\0');
  for (const std::string& text :
       {nul, nul + "{}", "{}" + nul, "{}" + nul + "{", "[1," + nul + "2]"}) {
    CHECK(message_for(text) == "f is no JSON (byte " + std::to_string(text.find(nul)) +
                                   " is NUL), expected well-formed JSON in UTF-8");
  }
  CHECK_THAT(message_for(""), ContainsSubstring("empty input"));
  CHECK(parse_json(R"("\u0000")", "f", 1) == json(nul));
}

TEST_CASE("a text is cut between code points") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "abc...");
  CHECK(shortened("a\xc3\xa4z", 2) == "a...");
  CHECK(shortened("a\xc3\xa4z", 3) == "a\xc3\xa4...");
  CHECK(shortened("\xf0\x9f\x98\x80z", 3) == "...");
}

}  // namespace tokkos::test
