// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>
#include <tokkos/core/version.hpp>

#include <Kokkos_Core.hpp>

#include "tools/command/bad_rows.hpp"
#include "tools/command/kokkos_settings.hpp"
#include "tools/command/option_set.hpp"
#include "tools/command/thread_option.hpp"
#include "tools/decode/decode.hpp"
#include "tools/decode/text_file.hpp"
#include "tools/info/info.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/unfinished_file.hpp"
#include "tools/replay/replay.hpp"
#include "tools/verify/verify.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <span>
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

struct Command {
  const char* name;
  tools::OptionSet (*parse)(std::span<const std::string>);
  void (*run)(const tools::OptionSet&, std::ostream&);
};

constexpr Command commands[] = {
    {"info", tools::parse_info, tools::run_info},
    {"decode", tools::parse_decode, tools::run_decode},
    {"replay", tools::parse_replay, tools::run_replay},
    {"verify", tools::parse_verify, tools::run_verify},
};

const Command& find_command(const std::string& name) {
  for (const Command& command : commands) {
    if (name == command.name) return command;
  }
  throw Error("command", std::nullopt, name.empty() ? "missing" : "\"" + name + "\"",
              "info, decode, replay or verify (see tokkos --help)");
}

void run(std::span<const std::string> arguments, std::optional<int> threads) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  const auto rest = arguments.subspan(std::min<std::size_t>(arguments.size(), 1));
  if (name == "--help" || name == "-h" || name == "--version") {
    if (!rest.empty()) {
      throw Error("argument", std::nullopt, "\"" + rest.front() + "\"", "none after " + name);
    }
    std::cout << (name == "--version" ? std::string("tokkos ") + version() + "\n" : help);
    return;
  }
  const Command& command = find_command(name);
  const tools::OptionSet options = command.parse(rest);
  if (options.wants_help()) {  // works where no device does
    std::cout << options.help();
    return;
  }
  if (const auto after = options.threads()) {
    if (threads) throw Error("--threads", std::nullopt, "given 2 times", "once");
    threads = after;
  }
  const Kokkos::ScopeGuard kokkos(tools::kokkos_settings(threads));
  command.run(options, std::cout);
}

/// One line of printable UTF-8: messages may hold names and bytes from anywhere. The middle of a
/// long one is left out.
std::string one_line(std::string text) {
  constexpr std::size_t longest = 4000;
  if (text.size() > longest) {
    text.replace(longest / 2, text.size() - longest, " ... ");
  }
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

int run_and_report(std::vector<std::string> arguments) {
  try {
    const std::optional<int> threads = tools::take_threads(arguments);
    run(arguments, threads);
  } catch (const tools::BadStatus& bad) {
    tools::flush_results(std::cout);
    return fail(bad.what(), 1);
  }
  tools::flush_results(std::cout);
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that leaves is an error like any other
  tools::remove_unfinished_file_on_signals();
  try {
    return run_and_report(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    return fail("memory is exhausted, expected more of it or a smaller input", 2);
  } catch (const std::exception& problem) {
    return fail(problem.what(), 2);
  }
}
