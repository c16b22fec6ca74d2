// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0

// Batches in which every request has parameters of its own.
#include "tools/decode/decode.hpp"
#include "tools/decode/decode_options.hpp"

#include <tokkos/core/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/licence.hpp"
#include "tools/tensor_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

using namespace tokkos;
using namespace tokkos::tools;
using Catch::Matchers::ContainsSubstring;

namespace {

using test::licence;

DecodeOptions options_of(const std::vector<std::string>& arguments) {
  return read_decode_options(parse_decode(arguments));
}

std::string decode(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  run_decode(parse_decode(arguments), out);
  return out.str();
}

// Thirty-two requests, no two of the same parameters.
const std::vector<std::string> mixed = {"--batch=32",
                                        "--max-tokens=12",
                                        "--temperature=0.7,1,1.3,0,0.9",
                                        "--top-k=0,40",
                                        "--top-p=1,0.9,0.95",
                                        "--min-p=0,0,0.01",
                                        "--presence-penalty=0,0.5",
                                        "--repetition-penalty=1,1.1,1",
                                        "--policy=seed,openai,hugging_face,llama_cpp",
                                        "--seed=1,2,3",
                                        "--prompt=You may",
                                        "--prompt=the terms of",
                                        "--constraint=none",
                                        "--constraint=words",
                                        "--constraint=sentence"};

}  // namespace

TEST_CASE("request i has value i of each list, modulo its length") {
  const DecodeOptions options = options_of({licence,
                                            "--batch",
                                            "5",
                                            "--temperature",
                                            "0.5,1",
                                            "--top-k",
                                            "0,10,20",
                                            "--top-p=0.25,1",
                                            "--min-p",
                                            "0.5",
                                            "--policy",
                                            "openai,seed",
                                            "--penalty-window=-1,3",
                                            "--seed",
                                            "7,8,9",
                                            "--presence-penalty",
                                            "-1,1",
                                            "--frequency-penalty",
                                            "0.5,0",
                                            "--repetition-penalty",
                                            "2,1",
                                            "--prompt",
                                            "a",
                                            "--prompt",
                                            "b",
                                            "--constraint",
                                            "none",
                                            "--constraint",
                                            "words"});
  REQUIRE(options.configs.size() == 5);
  const auto values = [&](auto GenerationConfig::*field) {
    std::vector<std::decay_t<decltype(options.configs[0].*field)>> all;
    for (const GenerationConfig& config : options.configs) all.push_back(config.*field);
    return all;
  };
  CHECK(values(&GenerationConfig::temperature) == std::vector<float>{0.5f, 1, 0.5f, 1, 0.5f});
  CHECK(values(&GenerationConfig::top_k) == std::vector<std::int32_t>{0, 10, 20, 0, 10});
  CHECK(values(&GenerationConfig::top_p) == std::vector<float>{0.25f, 1, 0.25f, 1, 0.25f});
  CHECK(values(&GenerationConfig::min_p) == std::vector<float>(5, 0.5f));
  CHECK(values(&GenerationConfig::penalty_window) == std::vector<std::int32_t>{-1, 3, -1, 3, -1});
  CHECK(values(&GenerationConfig::seed) == std::vector<std::uint64_t>{7, 8, 9, 7, 8});
  CHECK(values(&GenerationConfig::presence_penalty) == std::vector<float>{-1, 1, -1, 1, -1});
  CHECK(values(&GenerationConfig::frequency_penalty) == std::vector<float>{0.5f, 0, 0.5f, 0, 0.5f});
  CHECK(values(&GenerationConfig::repetition_penalty) == std::vector<float>{2, 1, 2, 1, 2});
  CHECK(options.configs[2].penalty_policy == PenaltyPolicy::openai);
  CHECK(options.configs[3].penalty_policy == PenaltyPolicy::seed);
  CHECK(options.prompts == std::vector<std::string>{"a", "b"});
  CHECK(options.constraints == std::vector<std::string>{"none", "words"});
  CHECK(
      mixed_parameters(options, 4) ==
      "temperature 0.5, top-k 10, top-p 0.25, presence-penalty -1, frequency-penalty 0.5, "
      "repetition-penalty 2, policy openai, penalty-window -1, seed 8, prompt a, constraint none");
  CHECK(mixed_parameters(options_of({licence, "--batch", "3"}), 2).empty());
}

TEST_CASE("lists that do not fit end in an error that names the option and the value") {
  struct Bad {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Bad bad = GENERATE(
      Bad{{"--temperature", "0,1"}, "--temperature is a list of 2, expected at most one value"},
      Bad{{"--batch", "2", "--seed", "1,2,3"}, "--seed is a list of 3"},
      Bad{{"--batch", "2", "--prompt", "You", "--prompt", "may", "--prompt", "You"},
          "--prompt is a list of 3"},
      Bad{{"--constraint", "none", "--constraint", "words"}, "--constraint is a list of 2"},
      Bad{{"--batch", "4", "--top-p", "1,0.5,2"}, "--top-p[2] is 2, expected a number from 1e-45"},
      Bad{{"--batch", "4", "--top-k", "1,,2"}, "--top-k[1] is empty"},
      Bad{{"--batch", "4", "--top-k", "1,2,"}, "--top-k[2] is empty"},
      Bad{{"--batch", "4", "--policy", "seed,vllm"}, "--policy[1] is \"vllm\""},
      Bad{{"--batch", "4", "--prompt", "You", "--prompt", "unheard"}, "\"unheard\""},
      Bad{{"--batch", "4", "--constraint", "words", "--constraint", "verse"}, "\"verse\""},
      Bad{{"--batch", "4", "--constraint", "words", "--constraint", ""}, "--constraint is empty"});
  std::vector<std::string> arguments = bad.arguments;
  arguments.push_back(licence);
  CAPTURE(arguments);
  CHECK_THROWS_WITH(decode(arguments), ContainsSubstring(bad.message));
}

TEST_CASE("a mixed batch prints what each request was given, and each obeys its own constraint") {
  const std::string tree = GENERATE(std::string("--tree=2x2"), "--no-speculation");
  std::vector<std::string> arguments = mixed;
  arguments.insert(arguments.end(), {tree, "--strict", "--logprobs", "2", licence});
  const std::string printed = decode(arguments);
  CHECK_THAT(printed, ContainsSubstring("\nrequest-0"));
  CHECK_THAT(printed, ContainsSubstring("  temperature 0.7, top-k 0, top-p 1, min-p 0, "));
  std::set<std::string> parameters;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find("  temperature ");
    if (begin == std::string::npos) continue;
    CHECK_THAT(line, ContainsSubstring(" tokens in "));
    CHECK((line.find("accepted drafts") != std::string::npos) == (tree == "--tree=2x2"));
    parameters.insert(line.substr(begin, line.find(':') - begin));
  }
  CHECK(parameters.size() == 32);
  // Requests 1, 4, ... have no punctuation, requests 2, 5, ... one full stop at most, at their end.
  for (int i = 0; i < 32; ++i) {
    const std::size_t begin = printed.find("[request-" + std::to_string(i) + "]\n");
    REQUIRE(begin != std::string::npos);
    const std::size_t text = printed.find('\n', begin) + 1;
    const std::string words = printed.substr(text, printed.find("\n\n", text) - text);
    CAPTURE(i, words);
    CHECK_THAT(words, Catch::Matchers::StartsWith(i % 2 == 0 ? "You may" : "the terms"));
    if (i % 3 == 1) CHECK(words.find_first_of(",;()\"") == std::string::npos);
    if (i % 3 == 2) CHECK(words.find(". ") == std::string::npos);
  }
}

TEST_CASE("a mixed batch gives the same text with 1, 2 and 3 threads") {
  const std::string tree = GENERATE(std::string("--tree=2x3"), "--no-speculation");
  const test::TemporaryFolder folder;
  const auto text_with = [&](int threads) {
    const std::string file = folder.file(std::to_string(threads));
    std::string command = "\"" TOKKOS_COMMAND "\" --threads " + std::to_string(threads) + " decode";
    for (const std::string& argument : mixed) command += " \"" + argument + "\"";
    command += " " + tree + " --strict --text " + file + " \"" + licence + "\" > /dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
    return test::read_bytes(file);
  };
  const std::string text = text_with(1);
  CHECK(std::ranges::count(text, '\n') > 32);
  CHECK(text_with(2) == text);
  CHECK(text_with(3) == text);
}
