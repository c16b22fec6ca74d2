// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/option_set.hpp"

#include <tokkos/core/error.hpp>

#include <cxxopts.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tokkos::tools {

namespace {

cxxopts::Options declare(const std::string& command, const std::string& summary,
                         const std::vector<Option>& options) {
  cxxopts::Options declared("tokkos " + command, summary);
  auto add = declared.add_options();
  for (const Option& option : options) {
    if (option.placeholder.empty()) {
      add(option.name, option.description);
    } else {
      add(option.name, option.description, cxxopts::value<std::string>(), option.placeholder);
    }
  }
  add("threads", "OpenMP threads (also before the subcommand)", cxxopts::value<std::string>(), "N");
  add("h,help", "Print this help");
  return declared;
}

}  // namespace

OptionSet::OptionSet(const std::string& command, const std::string& summary,
                     std::vector<Option> options, std::span<const std::string> arguments) {
  cxxopts::Options declared = declare(command, summary, options);
  m_help = declared.help();
  options.push_back({"help", "", ""});

  std::vector<const char*> words{command.c_str()};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  // cxxopts would take --flag=false as the flag given.
  for (const Option& option : options) {
    const std::string with_value = "--" + option.name + "=";
    const auto given = std::ranges::find_if(
        arguments, [&](const std::string& word) { return word.starts_with(with_value); });
    if (option.placeholder.empty() && given != arguments.end()) {
      throw Error("--" + option.name, std::nullopt,
                  "given the value \"" + given->substr(with_value.size()) + "\"", "no value");
    }
  }
  try {
    const auto parsed = declared.parse(static_cast<int>(words.size()), words.data());
    if (!parsed.unmatched().empty()) {
      throw Error("argument", std::nullopt, "\"" + parsed.unmatched().front() + "\"",
                  "options only (see tokkos " + command + " --help)");
    }
    for (const Option& option : options) {
      const std::size_t count = parsed.count(option.name);
      if (count == 0) continue;
      if (count > 1) {
        throw Error("--" + option.name, std::nullopt, "given " + std::to_string(count) + " times",
                    "once");
      }
      m_given.push_back(
          {option.name, option.placeholder.empty() ? "" : parsed[option.name].as<std::string>()});
    }
  } catch (const cxxopts::exceptions::exception& problem) {
    throw Error("option", std::nullopt, std::string("wrong (") + problem.what() + ")",
                "one of those in tokkos " + command + " --help");
  }
}

bool OptionSet::has(const std::string& name) const {
  return value(name).has_value();
}

std::optional<std::string> OptionSet::value(const std::string& name) const {
  const auto given =
      std::ranges::find_if(m_given, [&](const Given& one) { return one.name == name; });
  if (given == m_given.end()) return std::nullopt;
  return given->value;
}

std::string OptionSet::required(const std::string& name) const {
  const auto given = value(name);
  if (!given || given->empty()) {
    throw Error("--" + name, std::nullopt, given ? "empty" : "missing", "a value");
  }
  return *given;
}

std::int64_t parse_integer(const std::string& option, const std::string& text, std::int64_t lowest,
                           std::int64_t highest) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end || number < lowest || number > highest) {
    throw Error("--" + option, std::nullopt, text.empty() ? "empty" : text,
                "an integer in [" + to_text(lowest) + ", " + to_text(highest) + "]");
  }
  return number;
}

}  // namespace tokkos::tools
