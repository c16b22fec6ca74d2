// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/core/version.hpp>

#include <Kokkos_Core.hpp>

#include "tools/command/bad_rows.hpp"
#include "tools/command/thread_option.hpp"
#include "tools/decode/decode.hpp"
#include "tools/decode/text_file.hpp"
#include "tools/info/info.hpp"
#include "tools/replay/replay.hpp"
#include "tools/verify/verify.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace tokkos;

constexpr const char* help = R"(From logits to the next token, on every backend.
Usage:
  tokkos [--threads N] COMMAND [OPTION...]

Commands:
  info     Print versions, configuration, backends, devices and numerics
  decode   Generate text from real text with a draft and a target model
  replay   Run recorded logits through the library
  verify   Verify recorded draft trees

Options:
  --threads N  OpenMP threads, before or after the command
  --version    Print the version
  -h, --help   Print this help, or that of the command before it

Exit status: 0 on success, 1 if rows have a bad status and --strict was given, 2 on any error.
)";

int decode(const std::vector<std::string>& arguments) {
  std::string name = "decode";
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers{name.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return tools::run_decode(static_cast<int>(words.size()) + 1, pointers.data());
}

int run_command(const std::string& command, const std::vector<std::string>& arguments) {
  if (command == "info") return tools::run_info(arguments, std::cout), 0;
  if (command == "decode") return decode(arguments);
  if (command == "replay") return tools::run_replay(arguments, std::cout), 0;
  if (command == "verify") return tools::run_verify(arguments, std::cout), 0;
  throw Error("command", std::nullopt, command.empty() ? "missing" : "\"" + command + "\"",
              "info, decode, replay or verify (see tokkos --help)");
}

bool wants_help(const std::string& argument) {
  return argument == "--help" || argument == "-h";
}

int run(std::vector<std::string> arguments) {
  const std::optional<int> threads = tools::take_threads(arguments);
  const std::string command = arguments.empty() ? "" : arguments.front();
  if (wants_help(command)) return std::cout << help, 0;
  if (command == "--version") return std::cout << "tokkos " << version() << '\n', 0;
  if (!arguments.empty()) arguments.erase(arguments.begin());

  // Help works where no device does.
  if (std::ranges::any_of(arguments, wants_help)) return run_command(command, arguments);
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  if (threads) settings.set_num_threads(*threads);
  const Kokkos::ScopeGuard kokkos(settings);
  return run_command(command, arguments);
}

/// One line of printable UTF-8: messages may hold names and bytes from anywhere.
std::string one_line(const std::string& text) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = tools::code_point_at(text, i).bytes;
    const auto first = static_cast<unsigned char>(text[i]);
    if (bytes == 0) {
      line += '?';
    } else {
      line += first < 0x20 || first == 0x7f ? " " : text.substr(i, bytes);
    }
    i += std::max<std::size_t>(bytes, 1);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

int fail(const std::string& message, int status) {
  std::cerr << "tokkos: " << one_line(message) << '\n';
  return status;
}

}  // namespace

int main(int argc, char* argv[]) {
  try {
    const int status = run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
    if (!std::cout.flush())
      return fail("standard output is not writable, expected a place for it", 2);
    return status;
  } catch (const tools::BadStatus& bad) {
    std::cout.flush();
    return fail(bad.what(), 1);
  } catch (const std::bad_alloc&) {
    return fail("memory is exhausted, expected more of it or a smaller input", 2);
  } catch (const std::exception& problem) {
    return fail(problem.what(), 2);
  }
}
