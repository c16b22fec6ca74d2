// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/decode.hpp"

#include "tools/command/bad_rows.hpp"
#include "tools/decode/corpus.hpp"

#include <tokkos/core/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include "tools/licence.hpp"
#include "tools/tensor_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace tokkos;
using namespace tokkos::tools;
using Catch::Matchers::ContainsSubstring;

namespace {

using test::licence;

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

TEST_CASE("each policy penalizes words in its own way") {
  std::set<std::string> texts;
  for (const char* policy : {"seed", "openai", "hugging_face", "llama_cpp"}) {
    const std::string printed =
        decode({licence, "--prompt", "You may", "--temperature", "1.5", "--seed=3", "--policy",
                policy, "--penalty-window", "20", "--presence-penalty", "1", "--repetition-penalty",
                "1.5", "--strict"});
    texts.insert(printed.substr(0, printed.find("\ntokens ")));
  }
  CHECK(texts.size() == 4);
}

TEST_CASE("log-probabilities stand in a line for each word") {
  const std::string tree = GENERATE(std::string("--tree=2x2"), "--no-speculation");
  const std::vector<std::string> options = {
      "--logprobs", "3", "--max-tokens", "12", "--top-k", "40", "--seed", "2", tree, licence};
  const std::string printed = decode(options);
  CHECK_THAT(printed, ContainsSubstring("\nmean log-probability "));
  CHECK_THAT(printed, ContainsSubstring("\ntime log-probabilities  "));
  std::istringstream lines(printed);
  int scored = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t others = line.find("\"  (\"");
    if (others == std::string::npos) continue;
    ++scored;
    CHECK(std::stod(line) <= 0.0);
    CHECK(line.find("\" -", others) != std::string::npos);
  }
  CHECK(scored == 12);
  // Without a number the words stand alone.
  const std::string alone = decode({"--logprobs", licence, "--max-tokens", "5"});
  CHECK_THAT(alone, ContainsSubstring("\nmean log-probability "));
  CHECK_THAT(alone, !ContainsSubstring("  (\""));
}

TEST_CASE("a trace of the stages of every request is written") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  decode({licence, "--batch", "2", "--max-tokens", "10", "--top-p", "0.9", "--bias", "the=1",
          "--presence-penalty", "0.5", "--constraint", "words", "--trace", file});
  const auto trace = nlohmann::json::parse(test::read_bytes(file));
  const auto& events = trace.is_array() ? trace : trace.at("traceEvents");
  std::map<std::string, int> balance;
  std::set<std::string> tracks;
  for (const auto& event : events) {
    const std::string phase = event.at("ph");
    if (phase == "M") tracks.insert(event.at("args").at("name").get<std::string>());
    if (phase == "B") ++balance[event.at("name").get<std::string>()];
  }
  for (const char* stage :
       {"update logits", "apply logit bias", "apply penalty", "apply logit mask", "softmax",
        "renormalization by top p", "sampling", "draft verification"}) {
    CAPTURE(stage);
    CHECK(balance[stage] > 0);
  }
  CHECK(tracks.contains("request-0"));
  CHECK(tracks.contains("request-1"));
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
                             "--policy",
                             "--penalty-window",
                             "--seed",
                             "--bias",
                             "--constraint",
                             "--no-speculation",
                             "--logprobs",
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
      Bad{{"--temperature", "1e39"},
          "--temperature is 1e39, expected a number from 0 to 3.4028235e+38"},
      Bad{{"--temperature", "1x"}, "--temperature is 1x"},
      Bad{{"--presence-penalty", "inf"}, "--presence-penalty is inf"},
      Bad{{"--presence-penalty", "1e39"},
          "--presence-penalty is 1e39, expected a number from -3.4028235e+38 to 3.4028235e+38"},
      Bad{{"--frequency-penalty", "x"}, "--frequency-penalty is x"},
      Bad{{"--repetition-penalty", "0"},
          "--repetition-penalty is 0, expected a number from 1e-45 (the smallest float32 above 0) "
          "to 3.4028235e+38"},
      Bad{{"--policy", "vllm"}, "--policy is \"vllm\", expected seed, openai, hugging_face or"},
      Bad{{"--policy", ""}, "--policy is \"\""},
      Bad{{"--penalty-window", "-2"},
          "--penalty-window is -2, expected an integer from -1 to 2147483647"},
      Bad{{"--penalty-window", "1.5"}, "--penalty-window is 1.5"},
      Bad{{"--seed", "-1"}, "--seed is -1"}, Bad{{"--seed", "1", "--seed", "2"}, "given 2 times"},
      Bad{{"--top-p", "1.5"},
          "--top-p is 1.5, expected a number from 1e-45 (the smallest float32 above 0) to 1"},
      Bad{{"--top-p", "nan"}, "--top-p is nan"},
      Bad{{"--top-p", "0"}, "--top-p is 0, expected a number from 1e-45"},
      Bad{{"--top-k", "-1"}, "--top-k is -1, expected an integer from 0 to 2147483647"},
      Bad{{"--top-k", "99999999999"},
          "--top-k is 99999999999, expected an integer from 0 to 2147483647"},
      Bad{{"--min-p", "-0.1"}, "--min-p is -0.1, expected a number from 0 to 1"},
      Bad{{"--min-p", "2"}, "--min-p is 2, expected a number"},
      Bad{{"--strict=false"}, "--strict is given the value \"false\", expected no value"},
      Bad{{"--no-speculation=0"}, "--no-speculation is given the value \"0\""},
      Bad{{"--text", ""}, "--text is empty"}, Bad{{"--constraint="}, "--constraint is empty"},
      Bad{{"--logprobs", "129"}, "--logprobs is 129, expected an integer in [0, 128]"},
      Bad{{"--logprobs=-1"}, "--logprobs is -1"}, Bad{{"--logprobs="}, "--logprobs is empty"},
      Bad{{"--trace", ""}, "--trace is empty"},
      Bad{{"--trace", "/not/there/t.json"}, "/not/there/t.json"},
      Bad{{"--text", "same", "--trace", "./same"}, "--trace is ./same, expected another file"},
      Bad{{"--bias", "the"}, "--bias[0] is \"the\""},
      Bad{{"--bias", "the=1", "--bias", "=1"}, "--bias[1] is \"=1\""},
      Bad{{"--bias", "the=nan"}, "the=nan"},
      Bad{{"--bias", "the=1e300"},
          "the=1e300\", expected WORD=X with a number X from -3.4028235e+38 to 3.4028235e+38"},
      Bad{{"--bias", "unheard=1"}, "--bias[0] is \"unheard\""},
      Bad{{"--prompt", "You unheard"}, "--prompt[1] is \"unheard\""},
      Bad{{"--prompt", "\xff"}, "--prompt[0] is byte 0xff"},
      Bad{{"--constraint", "verse"},
          "--constraint is \"verse\", expected none, words, sentence or pattern:"},
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

TEST_CASE("the ends of the ranges that messages name are legal") {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--top-k", "2147483647"},
                                                        {"--top-p", "1e-45"},
                                                        {"--temperature", "3.4028235e+38"},
                                                        {"--presence-penalty", "-3.4028235e+38"},
                                                        {"--repetition-penalty", "1e-45"},
                                                        {"--repetition-penalty", "3.4028235e+38"},
                                                        {"--penalty-window", "2147483647"},
                                                        {"--bias", "the=3.4028235e+38"},
                                                        {"--constraint", "none"}}) {
    CAPTURE(option, value);
    CHECK_NOTHROW(decode({licence, "--max-tokens", "2", option, value}));
  }
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
