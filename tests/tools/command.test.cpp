// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/thread_option.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include "tools/error_message.hpp"
#include "tools/tensor_file.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

struct Outcome {
  int status;
  std::string out;
  std::string error;
};

/// Runs the built program through the shell.
Outcome run(const std::string& arguments) {
  const TemporaryFolder folder;
  const std::string out = folder.file("stdout");
  const std::string error = folder.file("stderr");
  const int status =
      std::system(("\"" TOKKOS_COMMAND "\" " + arguments + " > " + out + " 2> " + error).c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), read_bytes(out), read_bytes(error)};
}

/// Checks for exit status 2 and one line on standard error, and returns that.
std::string failure(const std::string& arguments) {
  CAPTURE(arguments);
  const Outcome outcome = run(arguments);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
  CHECK_THAT(outcome.error, StartsWith("tokkos: "));
  CHECK_THAT(outcome.error, ContainsSubstring("expected"));
  return outcome.error;
}

void write_step(const TemporaryFolder& folder, const std::vector<float>& logits) {
  TensorFile tensors;
  const auto columns = static_cast<std::int64_t>(logits.size() / 2);
  tensors.add("logits", "F32", {2, columns}, logits);
  tensors.write(folder.file("in.safetensors"));
  write_bytes(folder.file("req.json"), R"({"requests":[{"id":"a"},{"id":"b","temperature":0.5}]})");
}

std::string replay_arguments(const TemporaryFolder& folder, const std::string& output) {
  return "replay --logits " + folder.file("in.safetensors") + " --requests " +
         folder.file("req.json") + " --output " + folder.file(output);
}

}  // namespace

TEST_CASE("the command and its subcommands explain themselves") {
  for (const char* arguments : {"--help", "-h"}) {
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == 0);
    CHECK(outcome.error.empty());
    for (const char* command : {"info", "decode", "replay", "verify", "--threads"}) {
      CHECK_THAT(outcome.out, ContainsSubstring(command));
    }
  }
  for (const std::string command : {"info", "decode", "replay", "verify"}) {
    CAPTURE(command);
    const Outcome outcome = run(command + " --help");
    CHECK(outcome.status == 0);
    CHECK(outcome.error.empty());
    CHECK_THAT(outcome.out, ContainsSubstring("tokkos " + command));
    CHECK_THAT(outcome.out, ContainsSubstring("--help"));
  }
}

TEST_CASE("a wrong command line ends in one line and exit status 2") {
  CHECK_THAT(failure(""), ContainsSubstring("command is missing"));
  CHECK_THAT(failure("sample"), ContainsSubstring("command is \"sample\""));
  CHECK_THAT(failure("--json info"), ContainsSubstring("--json"));
  CHECK_THAT(failure("info --jsn"), ContainsSubstring("jsn"));
  CHECK_THAT(failure("info --json --json"), ContainsSubstring("--json is given 2 times"));
  CHECK_THAT(failure("info more"), ContainsSubstring("more"));
  CHECK_THAT(failure("decode --no-such-option"), ContainsSubstring("no-such-option"));
  CHECK_THAT(failure("verify"), ContainsSubstring("--output is missing"));
  CHECK_THAT(failure("info --threads"), ContainsSubstring("--threads is missing"));
  CHECK_THAT(failure("--threads 0 info"), ContainsSubstring("--threads is 0"));
  CHECK_THAT(failure("info --threads=two"), ContainsSubstring("--threads is two"));
  CHECK_THAT(failure("--threads 1 info --threads 2"), ContainsSubstring("given 2 times"));
}

TEST_CASE("threads are taken from before and after the subcommand") {
  std::vector<std::string> arguments{"--threads", "3", "replay", "--strict"};
  CHECK(tools::take_threads(arguments) == 3);
  CHECK(arguments == std::vector<std::string>{"replay", "--strict"});
  arguments = {"replay", "--threads=2"};
  CHECK(tools::take_threads(arguments) == 2);
  CHECK(arguments == std::vector<std::string>{"replay"});
  CHECK_FALSE(tools::take_threads(arguments).has_value());
  CHECK(arguments.size() == 1);
}

TEST_CASE("info describes the build for people and machines") {
  const Outcome lines = run("info");
  CHECK(lines.status == 0);
  CHECK(lines.error.empty());
  for (const char* name :
       {"version", "revision", "kokkos_version", "backends", "device", "exp", "chunk", "grid"}) {
    CHECK_THAT(lines.out, ContainsSubstring(name));
  }
  const Outcome machine = run("info --json");
  REQUIRE(machine.status == 0);
  const auto info = nlohmann::json::parse(machine.out);
  CHECK(info["numerics"]["chunk"] == 4096);
  CHECK(info["numerics"]["grid"] == "2^-44");
  CHECK(std::ranges::find(info["backends"], "SERIAL") != info["backends"].end());
  CHECK(info["devices"].size() >= 1);
}

TEST_CASE("replay writes the same bytes for any number of threads", "[sameness]") {
  const TemporaryFolder folder;
  std::vector<float> logits(2 * 9000);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>((i * 2654435761u) % 4096u) / 512.0f;
  }
  write_step(folder, logits);
  REQUIRE(run("--threads 1 " + replay_arguments(folder, "1")).status == 0);
  REQUIRE(run(replay_arguments(folder, "2") + " --threads 2").status == 0);
  REQUIRE(run(replay_arguments(folder, "3") + " --threads=3").status == 0);
  const std::string one = read_bytes(folder.file("1"));
  CHECK(one.size() > 2 * 9000 * 8);
  CHECK(read_bytes(folder.file("2")) == one);
  CHECK(read_bytes(folder.file("3")) == one);
}

TEST_CASE("strict turns a bad row into exit status 1 and one line") {
  const TemporaryFolder folder;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  write_step(folder, {0.0f, 1.0f, nan, 1.0f});
  const Outcome relaxed = run(replay_arguments(folder, "out"));
  CHECK(relaxed.status == 0);
  CHECK(relaxed.error.empty());
  const Outcome strict = run(replay_arguments(folder, "out") + " --strict");
  CHECK(strict.status == 1);
  CHECK(std::count(strict.error.begin(), strict.error.end(), '\n') == 1);
  CHECK_THAT(strict.error, ContainsSubstring("row_status[1] is 1 (nan_logit)"));
}

TEST_CASE("wrong files end in one line that names them") {
  const TemporaryFolder folder;
  write_step(folder, {0.0f, 1.0f, 2.0f, 3.0f});
  write_bytes(folder.file("in.safetensors"), "not a tensor file");
  CHECK_THAT(failure(replay_arguments(folder, "out")),
             ContainsSubstring("in.safetensors: header length is"));
  write_bytes(folder.file("in.safetensors"), TensorFile::bytes_of("{\"a\\nb\":1}", ""));
  CHECK_THAT(failure(replay_arguments(folder, "out")), ContainsSubstring("tensor a b is 1"));
  write_bytes(folder.file("in.safetensors"), TensorFile::bytes_of("{\"\xc3\xa4\xff\"", ""));
  CHECK_THAT(failure(replay_arguments(folder, "out")), ContainsSubstring("\xc3\xa4?"));
  CHECK_THAT(failure("verify --tree " + folder.file("none") + " --output " + folder.file("out")),
             ContainsSubstring("none is missing"));
  CHECK_FALSE(std::filesystem::exists(folder.file("out")));
}

}  // namespace tokkos::test
