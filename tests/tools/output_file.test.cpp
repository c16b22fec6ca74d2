// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/output_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tools/error_message.hpp"
#include "tools/tensor_file.hpp"

#include <filesystem>
#include <iterator>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tokkos::test {

using Catch::Matchers::ContainsSubstring;
using tools::OutputFile;

namespace {

namespace fs = std::filesystem;

std::ptrdiff_t files_in(const TemporaryFolder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), {});
}

void write_word(OutputFile& file, const std::string& word) {
  file.write([&word](std::ostream& out) { out << word; });
}

/// The message for an output of that name beside a file "input" that is read.
std::string refusal(const TemporaryFolder& folder, const std::string& output) {
  const std::vector<std::string> inputs{folder.file("missing"), folder.file("input")};
  return error_message([&] { OutputFile file(output, inputs); });
}

}  // namespace

TEST_CASE("an output file appears when it is published and not before") {
  const TemporaryFolder folder;
  const std::string name = folder.file("out");
  std::ostringstream results;
  OutputFile file(name, {});
  CHECK(fs::is_empty(folder.path()));
  write_word(file, "new");
  CHECK_FALSE(fs::exists(name));
  file.publish(results);
  CHECK(read_bytes(name) == "new");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("what stood in an output file's place stays until it is published") {
  const TemporaryFolder folder;
  const std::string name = folder.file("out");
  write_bytes(name, "old");
  fs::permissions(name, fs::perms::owner_read | fs::perms::owner_write);
  std::ostringstream results;
  {
    OutputFile file(name, {});
    write_word(file, "abandoned");
    CHECK(read_bytes(name) == "old");
  }
  CHECK(read_bytes(name) == "old");
  {
    OutputFile file(name, {});
    CHECK_THROWS_AS(file.write([](std::ostream&) { throw std::runtime_error("half way"); }),
                    std::runtime_error);
  }
  {
    OutputFile file(name, {});
    write_word(file, "unprinted");
    results.setstate(std::ios::badbit);
    CHECK_THAT(error_message([&] { file.publish(results); }),
               ContainsSubstring("standard output is not writable"));
    results.clear();
  }
  CHECK(read_bytes(name) == "old");
  CHECK(files_in(folder) == 1);
  OutputFile file(name, {});
  write_word(file, "new");
  file.publish(results);
  CHECK(read_bytes(name) == "new");
  CHECK(fs::status(name).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(files_in(folder) == 1);
}

TEST_CASE("two output files of one folder do not disturb each other") {
  const TemporaryFolder folder;
  std::ostringstream results;
  OutputFile one(folder.file("one"), {});
  OutputFile two(folder.file("two"), {});
  write_word(one, "1");
  write_word(two, "2");
  one.publish(results);
  two.publish(results);
  CHECK(read_bytes(folder.file("one")) == "1");
  CHECK(read_bytes(folder.file("two")) == "2");
}

TEST_CASE("an output that is one of the inputs is refused by whatever name") {
  const TemporaryFolder folder;
  write_bytes(folder.file("input"), "precious");
  fs::create_symlink("input", folder.path() / "soft");
  fs::create_hard_link(folder.path() / "input", folder.path() / "hard");
  fs::create_directory(folder.path() / "sub");
  for (const char* name : {"input", "soft", "hard", "sub/../input", "./input"}) {
    CAPTURE(name);
    const std::string file = folder.file(name);
    CHECK_THAT(refusal(folder, file), ContainsSubstring(file + " is the input file"));
  }
  CHECK(read_bytes(folder.file("input")) == "precious");
}

TEST_CASE("an output goes where a symbolic link leads and leaves the link") {
  const TemporaryFolder folder;
  std::ostringstream results;
  fs::create_directory(folder.path() / "sub");
  fs::create_symlink("second", folder.path() / "first");
  fs::create_symlink("sub/target", folder.path() / "second");
  for (const char* word : {"made", "replaced"}) {
    OutputFile file(folder.file("first"), {});
    write_word(file, word);
    file.publish(results);
    CHECK(fs::is_symlink(folder.path() / "first"));
    CHECK(fs::is_symlink(folder.path() / "second"));
    CHECK(read_bytes(folder.file("sub/target")) == word);
  }
  fs::create_symlink("loop", folder.path() / "loop");
  CHECK_THAT(error_message([&] { OutputFile file(folder.file("loop"), {}); }),
             ContainsSubstring("loop is not writable"));
}

TEST_CASE("a file that cannot be made is named before anything is written") {
  const TemporaryFolder folder;
  write_bytes(folder.file("input"), "");
  const std::string file = folder.file("missing/out");
  CHECK_THAT(refusal(folder, file), ContainsSubstring(file + " is not writable (there is no"));
  CHECK_THAT(refusal(folder, folder.path().string()), ContainsSubstring("it is a directory"));
  CHECK_THAT(refusal(folder, folder.file("input/out")), ContainsSubstring("there is no directory"));
  CHECK_THAT(refusal(folder, folder.file(std::string(300, 'x'))),
             ContainsSubstring("is not writable"));
  CHECK_THAT(refusal(folder, ""), ContainsSubstring("not writable"));
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a device is written to and stays a device") {
  std::ostringstream results;
  OutputFile null("/dev/null", {});
  write_word(null, "nothing");
  null.publish(results);
  CHECK(fs::is_character_file("/dev/null"));
  OutputFile full("/dev/full", {});
  CHECK_THAT(error_message([&] { write_word(full, "too much"); }),
             ContainsSubstring("/dev/full is not writable (No space left"));
}

}  // namespace tokkos::test
