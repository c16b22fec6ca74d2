// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/thread_option.hpp"
#include "tools/info/info.hpp"

#include <tokkos/core/version.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
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
/// @param environment assignments before it
/// @param to where standard output goes; not there: it is caught
Outcome run(const std::string& arguments, const std::string& environment = "",
            const std::string& to = "") {
  const TemporaryFolder folder;
  const std::string out = folder.file("stdout");
  const std::string error = folder.file("stderr");
  const std::string command = environment + " \"" TOKKOS_COMMAND "\" " + arguments +
                              (to.empty() ? " > " + out : to) + " 2> " + error;
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), read_bytes(out), read_bytes(error)};
}

/// Checks for exit status 2 and one line on standard error, and returns that.
std::string failure(const std::string& arguments, const std::string& environment = "",
                    const std::string& to = "") {
  CAPTURE(arguments, environment, to);
  const Outcome outcome = run(arguments, environment, to);
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
  write_bytes(
      folder.file("req.json"),
      R"({"requests":[{"id":"a"},{"id":"b","temperature":0.5,"top_p":0.9,"logprobs":"processed",
                 "top_logprobs":5}]})");
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
  CHECK_THAT(failure("info --threads"), ContainsSubstring("missing an argument"));
  CHECK_THAT(failure("--threads"), ContainsSubstring("--threads is missing"));
  CHECK_THAT(failure("--threads 0 info"), ContainsSubstring("--threads is 0"));
  CHECK_THAT(failure("info --threads=two"), ContainsSubstring("--threads is two"));
  CHECK_THAT(failure("--threads 1 info --threads 2"), ContainsSubstring("given 2 times"));
  CHECK_THAT(failure("info --threads 600"), ContainsSubstring("--threads is 600"));
  CHECK_THAT(failure("--version --json"), ContainsSubstring("argument is \"--json\""));
}

TEST_CASE("the middle of a long message is left out") {
  const std::string message = failure("--threads " + std::string(100'000, '9') + " info");
  CHECK(message.size() < 5000);
  CHECK_THAT(message, StartsWith("tokkos: --threads is 999"));
  CHECK_THAT(message, ContainsSubstring(" ... "));
}

TEST_CASE("threads are taken from before and after the subcommand") {
  std::vector<std::string> arguments{"--threads", "3", "info", "--json"};
  CHECK(tools::take_threads(arguments) == 3);
  CHECK(arguments == std::vector<std::string>{"info", "--json"});
  arguments = {"--threads=2", "info"};
  CHECK(tools::take_threads(arguments) == 2);
  CHECK(arguments == std::vector<std::string>{"info"});
  CHECK_FALSE(tools::take_threads(arguments).has_value());
  arguments = {"--threads=2", "--json"};
  CHECK(tools::parse_info(arguments).threads() == 2);
  arguments = {"--json", "--threads", "512"};
  CHECK(tools::parse_info(arguments).threads() == 512);
  arguments = {"--json"};
  CHECK_FALSE(tools::parse_info(arguments).threads().has_value());
}

TEST_CASE("info describes the build for people and machines") {
  const Outcome lines = run("info");
  CHECK(lines.status == 0);
  CHECK(lines.error.empty());
  for (const char* name :
       {"version", "revision", "kokkos_version", "backends", "device", "exp", "chunk", "grid"}) {
    CHECK_THAT(lines.out, ContainsSubstring(name));
  }
  const Outcome machine = run("info --json", "KOKKOS_PRINT_CONFIGURATION=1");
  REQUIRE(machine.status == 0);
  const auto info = nlohmann::json::parse(machine.out);
  CHECK(info["version"] == version_string);
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

TEST_CASE("a value is a value, whatever it looks like") {
  const TemporaryFolder folder;
  write_step(folder, {0.0f, 1.0f, 2.0f, 3.0f});
  const std::string inputs = "replay --logits in.safetensors --requests req.json --output ";
  const std::string in_folder = "cd " + folder.path().string() + " &&";
  for (const std::string name : {"-h", "--help", "--strict=false", "--threads"}) {
    CAPTURE(name);
    const Outcome outcome = run(inputs + name, in_folder);
    CHECK(outcome.status == 0);
    CHECK(outcome.error.empty());
    CHECK(read_tensor_file(folder.file(name)).contains("tokens"));
  }
  const Outcome help = run(inputs + "x -h", in_folder);
  CHECK(help.status == 0);
  CHECK_THAT(help.out, ContainsSubstring("--requests"));
  CHECK_FALSE(std::filesystem::exists(folder.file("x")));
}

TEST_CASE("help works where Kokkos could not be initialized") {
  for (const std::string command : {"info", "decode", "replay", "verify"}) {
    CHECK(run(command + " --help", "KOKKOS_NUM_THREADS=0").status == 0);
  }
}

TEST_CASE("a wrong environment ends in one line and exit status 2") {
  const std::string name = GENERATE(
      "KOKKOS_NUM_THREADS=abc", "KOKKOS_NUM_THREADS=0",
      "KOKKOS_NUM_THREADS=", "KOKKOS_NUM_THREADS=4x", "KOKKOS_NUM_THREADS=600",
      "KOKKOS_DEVICE_ID=x", "KOKKOS_DEVICE_ID=-1", "KOKKOS_VISIBLE_DEVICES=0,y",
      "KOKKOS_DISABLE_WARNINGS=maybe", "KOKKOS_PRINT_CONFIGURATION=", "KOKKOS_TUNE_INTERNALS=2",
      "KOKKOS_MAP_DEVICE_ID_BY=name", "OMP_NUM_THREADS=100000",
      "KOKKOS_PROFILE_LIBRARY=", "KOKKOS_PROFILE_LIBRARY=a KOKKOS_TOOLS_LIBS=b",
      "KOKKOS_TOOLS_LIBS=/no/such/library.so", "KOKKOS_MAP_DEVICE_ID_BY=random KOKKOS_DEVICE_ID=0",
      "OMP_STACKSIZE=8000000G", "OMP_STACKSIZE=1025M", "OMP_STACKSIZE=1048577",
      "OMP_STACKSIZE=' 1073741825 b '", "GOMP_STACKSIZE=2g");
  CHECK_THAT(failure("info", name),
             StartsWith("tokkos: " + name.substr(0, name.find('=')) + " is "));
  CHECK(run("info", "KOKKOS_NUM_THREADS=2 KOKKOS_DISABLE_WARNINGS=No").status == 0);
  CHECK(run("info", "OMP_STACKSIZE=64M KOKKOS_TOOLS_LIBS=").status == 0);
}

TEST_CASE("a file is not put into its place when the results cannot be printed") {
  const TemporaryFolder folder;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  write_step(folder, {0.0f, 1.0f, nan, 1.0f});  // a bad row is printed
  write_bytes(folder.file("text"), "one two three. one two four.");
  const std::string replay = replay_arguments(folder, "out");
  const std::string decode = "decode " + folder.file("text") + " --text " + folder.file("out");
  std::string stuck = "decode " + folder.file("text") + " --strict --constraint words";
  for (const std::string word : {"one", "two", "three", "four"}) {
    stuck += " --bias " + word + "=-inf";
  }
  CHECK(run(stuck).status == 1);
  for (const std::string to : {" > /dev/full", " >&-"}) {
    CHECK_THAT(failure(stuck, "", to), ContainsSubstring("standard output is not writable"));
    for (const std::string& arguments : {replay, decode, replay + " --strict"}) {
      CHECK_THAT(failure(arguments, "", to), ContainsSubstring("standard output is not writable"));
      CHECK_FALSE(std::filesystem::exists(folder.file("out")));
    }
    CHECK_THAT(failure("info", "", to), ContainsSubstring("standard output is not writable"));
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 3);
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
