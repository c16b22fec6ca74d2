// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/unfinished_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/error_message.hpp"
#include "tools/io/output_file.hpp"
#include "tools/tensor_file.hpp"
#include "tools/unprivileged.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <set>
#include <sstream>
#include <string>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using tools::OutputFile;

namespace {

namespace fs = std::filesystem;

/// The only file of the folder.
fs::path only_file(const TemporaryFolder& folder) {
  REQUIRE(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
  return fs::directory_iterator(folder.path())->path();
}

[[noreturn]] void write_interrupted(const std::string& file, int signal) {
  try {
    tools::remove_unfinished_file_on_signals();
    std::ostringstream results;
    OutputFile output(file, {});
    output.write([signal](std::ostream& out) {
      out << "half" << std::flush;
      std::raise(signal);
    });
    output.publish(results);
  } catch (...) {
    _exit(8);
  }
  _exit(7);
}

/// How a child process ends that is hit by the signal in the middle of writing the file.
int end_of_interrupted_writer(const std::string& file, int signal, bool ignored) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(signal, ignored ? SIG_IGN : SIG_DFL);
    write_interrupted(file, signal);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("a symbolic link in the place of the unfinished file is not followed") {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  const std::string victim = elsewhere.file("victim");
  write_bytes(victim, "precious");
  for (int number = 0; number < 1000; ++number) {
    fs::create_symlink(victim, folder.path() / (".tokkos-unfinished-" + std::to_string(getpid()) +
                                                "-" + std::to_string(number)));
  }
  std::ostringstream results;
  OutputFile file(folder.file("out"), {});
  file.write([](std::ostream& out) { out << "new"; });
  CHECK(read_bytes(victim) == "precious");
  file.publish(results);
  CHECK(fs::is_regular_file(fs::symlink_status(folder.path() / "out")));
  CHECK(read_bytes(folder.file("out")) == "new");
}

TEST_CASE("no two unfinished files have the same name") {
  std::set<fs::path> names;
  for (int run = 0; run < 50; ++run) {
    const TemporaryFolder folder;
    OutputFile file(folder.file("out"), {});
    file.write([&](std::ostream&) { names.insert(only_file(folder).filename()); });
  }
  CHECK(names.size() == 50);
}

TEST_CASE("an output file has the permissions of its predecessor, else those of the umask") {
  const TemporaryFolder folder;
  std::ostringstream results;
  const mode_t before = umask(026);
  const auto mode_of = [&](const std::string& name) {
    OutputFile file(folder.file(name), {});
    file.write([](std::ostream& out) { out << "x"; });
    file.publish(results);
    return static_cast<unsigned>(fs::status(folder.file(name)).permissions());
  };
  CHECK(mode_of("new") == 0640);
  for (const unsigned mode : {0600u, 0666u, 0755u}) {
    fs::permissions(folder.file("new"), static_cast<fs::perms>(mode));
    CHECK(mode_of("new") == mode);
  }
  umask(before);
}

TEST_CASE("a writer that is interrupted leaves nothing") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const TemporaryFolder folder;
  const int status = end_of_interrupted_writer(folder.file("out"), signal, false);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == signal);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a signal that is ignored stays ignored") {
  const TemporaryFolder folder;
  const int status = end_of_interrupted_writer(folder.file("out"), SIGHUP, true);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(read_bytes(folder.file("out")) == "half");
}

TEST_CASE("a directory that cannot be written to is named") {
  const TemporaryFolder folder;
  const std::string file = folder.file("closed/out");
  fs::create_directory(folder.path() / "closed");
  write_bytes(file, "old");
  fs::permissions(file, fs::perms::all);
  fs::permissions(folder.path() / "closed", static_cast<fs::perms>(0555));
  std::string message;
  {
    const Unprivileged user;
    if (user) message = error_message([&] { OutputFile output(file, {}); });
  }
  fs::permissions(folder.path() / "closed", fs::perms::owner_all);
  if (message.empty()) SKIP("root may not become another user");
  CHECK_THAT(message, ContainsSubstring(file + " is not writable (its directory " +
                                        folder.file("closed") + ": Permission denied)"));
}

}  // namespace tokkos::test
