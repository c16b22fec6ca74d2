// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/tensor_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

namespace tokkos::test {

namespace {

std::ptrdiff_t files_in(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

/// Runs commands in the shell, in that folder, and returns their exit status.
int run_in(const TemporaryFolder& folder, const std::string& commands) {
  const int status =
      std::system(("cd " + folder.path().string() + " || exit 98; " + commands).c_str());
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// A pipe with a name that takes no more bytes.
int make_full_pipe(const std::string& file) {
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  const int pipe = open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(pipe >= 0);
  const std::string block(4096, 'x');
  while (write(pipe, block.data(), block.size()) > 0) {
  }
  while (write(pipe, block.data(), 1) > 0) {
  }
  return pipe;
}

}  // namespace

TEST_CASE("an output past the limit on the size of files ends in one line and leaves nothing") {
  const TemporaryFolder folder;
  TensorFile tensors;
  tensors.add("logits", "F32", {1, 50'000}, std::vector<float>(50'000));
  tensors.write(folder.file("in"));
  write_bytes(folder.file("requests"), R"({"requests":[{}]})");
  const std::string command =
      "ulimit -f 64 && \"" TOKKOS_COMMAND "\" replay --logits in --requests requests --output out";
  CHECK(run_in(folder, command + " 2> error") == 2);
  const std::string error = read_bytes(folder.file("error"));
  CHECK_THAT(error, Catch::Matchers::ContainsSubstring("out is not writable (File too large)"));
  CHECK(std::count(error.begin(), error.end(), '\n') == 1);
  CHECK(files_in(folder) == 3);
}

TEST_CASE("a command that is ended while its output is unfinished leaves nothing") {
  const TemporaryFolder folder;
  write_bytes(folder.file("text"), "one two three. one two four.");
  // The results block in the pipe when the file is written and not yet in its place.
  const int pipe = make_full_pipe(folder.file("pipe"));
  const std::string commands =
      "\"" TOKKOS_COMMAND
      "\" decode text --text out > pipe & process=$!; "
      "for i in $(seq 1000); do ls -A | grep -q unfinished && break; sleep 0.03; done; "
      "ls -A | grep -q unfinished || { kill -KILL $process; exit 99; }; "
      "kill -TERM $process; wait $process";
  const int status = run_in(folder, commands);
  close(pipe);
  CHECK(status == 128 + SIGTERM);
  CHECK(files_in(folder) == 2);
}

}  // namespace tokkos::test
