// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/decode.hpp"

#include "tools/command/bad_rows.hpp"
#include "tools/decode/corpus.hpp"

#include <tokkos/core/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/tensor_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace tokkos;
using namespace tokkos::tools;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string licence =
    (std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "LICENSE")
        .string();

// What the command prints.
std::string decode(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  run_decode(parse_decode(arguments), out);
  return out.str();
}

}  // namespace

TEST_CASE("the command prints the text and the table and writes the text alone") {
  const std::string path =
      (std::filesystem::temp_directory_path() / "tokkos-decode-text.txt").string();
  const auto run = [&] {
    return decode({licence, "--prompt", "You may", "--max-tokens", "40", "--seed=3", "--bias",
                   "the=-1", "--bias", "a=0.5", "--text", path, "--strict"});
  };
  const std::string printed = run();
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::filesystem::remove(path);
  CHECK(printed.starts_with("You may"));
  REQUIRE(text.size() > 40);
  CHECK_THAT(printed, ContainsSubstring(text.substr(0, text.size() - 1)));
  for (const char* name :
       {"\ntokens  ", "\nsteps  ", "\naccepted drafts per step  ", "\ntime draft verification  ",
        "\nlogits processed per second  ", "\nbytes staged per step  "}) {
    CHECK_THAT(printed, ContainsSubstring(name));
  }
  const auto generated = [](const std::string& all) {
    return all.substr(0, all.find("\ntokens "));
  };
  CHECK(generated(run()) == generated(printed));
  std::filesystem::remove(path);
}

TEST_CASE("help names every option and needs nothing else") {
  const std::vector<std::string> arguments{"--help"};
  const OptionSet options = parse_decode(arguments);
  CHECK(options.wants_help());
  for (const char* option : {"--batch",
                             "--tree",
                             "--prompt",
                             "--max-tokens",
                             "--temperature",
                             "--top-p",
                             "--top-k",
                             "--min-p",
                             "--presence-penalty",
                             "--frequency-penalty",
                             "--repetition-penalty",
                             "--seed",
                             "--bias",
                             "--constraint",
                             "--no-speculation",
                             "--trace",
                             "--text",
                             "--strict",
                             "--threads",
                             "--help",
                             "FILE..."}) {
    CHECK_THAT(options.help(), ContainsSubstring(option));
  }
}

TEST_CASE("bad command lines end in an error that names the option and its value") {
  struct Bad {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Bad bad = GENERATE(
      Bad{{"--speculate"}, "speculate"}, Bad{{"--batch", "0"}, "--batch is 0, expected 1 to 1024"},
      Bad{{"--batch", "1.5"}, "--batch is 1.5"}, Bad{{"--batch", ""}, "--batch is empty"},
      Bad{{"--max-tokens", "-3"}, "--max-tokens is -3"}, Bad{{"--tree", "2y3"}, "\"2y3\""},
      Bad{{"--temperature", "nan"}, "--temperature is nan"},
      Bad{{"--temperature", "-1"}, "--temperature is -1"},
      Bad{{"--temperature", "1e39"}, "--temperature is 1e39"},
      Bad{{"--temperature", "1x"}, "--temperature is 1x"},
      Bad{{"--presence-penalty", "inf"}, "--presence-penalty is inf"},
      Bad{{"--frequency-penalty", "x"}, "--frequency-penalty is x"},
      Bad{{"--repetition-penalty", "0"}, "--repetition-penalty is 0"},
      Bad{{"--seed", "-1"}, "--seed is -1"}, Bad{{"--seed", "1", "--seed", "2"}, "given 2 times"},
      Bad{{"--top-p", "0.9"}, "--top-p is 0.9, expected 1 (off)"},
      Bad{{"--top-p", "0"}, "--top-p is 0, expected a number above 0"},
      Bad{{"--top-k", "5"}, "--top-k is 5, expected 0 (off)"},
      Bad{{"--top-k", "-1"}, "--top-k is -1, expected an integer"},
      Bad{{"--min-p", "0.1"}, "--min-p is 0.1, expected 0 (off)"},
      Bad{{"--min-p", "2"}, "--min-p is 2, expected a number"},
      Bad{{"--strict=false"}, "--strict is given the value \"false\", expected no value"},
      Bad{{"--no-speculation=0"}, "--no-speculation is given the value \"0\""},
      Bad{{"--text", ""}, "--text is empty"}, Bad{{"--constraint="}, "--constraint is empty"},
      Bad{{"--trace", "t.json"}, "--trace is t.json, expected no file"},
      Bad{{"--bias", "the"}, "--bias[0] is \"the\""},
      Bad{{"--bias", "the=1", "--bias", "=1"}, "--bias[1] is \"=1\""},
      Bad{{"--bias", "the=nan"}, "the=nan"}, Bad{{"--bias", "the=1e300"}, "the=1e300"},
      Bad{{"--bias", "unheard=1"}, "--bias[0] is \"unheard\""},
      Bad{{"--prompt", "You unheard"}, "--prompt[1] is \"unheard\""},
      Bad{{"--prompt", "\xff"}, "--prompt[0] is byte 0xff"},
      Bad{{"--constraint", "verse"}, "--constraint is \"verse\""},
      Bad{{"--batch", "1024", "--tree", "chain:1024", licence}, "2^28 logits"},
      Bad{{"--text", "/not/there/text.txt"}, "/not/there/text.txt"},
      Bad{{"/not/there.txt"}, "/not/there.txt is unreadable"});
  std::vector<std::string> arguments = bad.arguments;
  arguments.push_back(licence);
  CAPTURE(arguments);
  try {
    decode(arguments);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring(bad.message));
  }
  CHECK_THROWS_WITH(decode({}), ContainsSubstring("FILE is missing"));
}

TEST_CASE("the text does not replace a file that it was made from") {
  const test::TemporaryFolder folder;
  const std::string corpus = folder.file("corpus");
  test::write_bytes(corpus, "one two three. one two four.");
  CHECK_THROWS_WITH(decode({licence, corpus, "--text", corpus}),
                    ContainsSubstring(corpus + " is the input file"));
  CHECK(test::read_bytes(corpus) == "one two three. one two four.");
}

TEST_CASE("strict turns a row with a bad status into a failure") {
  std::vector<std::string> arguments = {licence};
  const Corpus corpus = read_corpus(arguments);
  for (TokenId token = 0; token < corpus.vocabulary.size(); ++token) {
    arguments.push_back("--bias");
    arguments.push_back(corpus.vocabulary.text(token) + "=-inf");
  }
  CHECK_NOTHROW(decode(arguments));
  arguments.push_back("--strict");
  CHECK_THROWS_AS(decode(arguments), BadStatus);
}
