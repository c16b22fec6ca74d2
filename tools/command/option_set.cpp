// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/option_set.hpp"

#include <tokkos/core/error.hpp>

#include "tools/command/thread_option.hpp"

#include <cxxopts.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace tokkos::tools {

namespace {

cxxopts::Options declare(const CommandSyntax& syntax) {
  cxxopts::Options declared("tokkos " + syntax.name, syntax.summary);
  declared.custom_help(syntax.operands.empty() ? "[OPTION...]" : "[OPTION...] " + syntax.operands);
  auto add = declared.add_options();
  for (const Option& option : syntax.options) {
    const std::string name = option.name == "help" ? "h,help" : option.name;
    if (option.placeholder.empty()) {
      add(name, option.description);
      continue;
    }
    const auto value = cxxopts::value<std::string>();
    if (!option.fallback.empty()) value->default_value(option.fallback);
    if (!option.implied.empty()) value->implicit_value(option.implied);
    add(name, option.description, value, option.placeholder);
  }
  return declared;
}

/// Joins an option that may stand alone with the number that follows it.
std::vector<std::string> with_joined_numbers(const std::vector<Option>& options,
                                             std::span<const std::string> arguments) {
  std::vector<std::string> joined;
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    joined.push_back(*word);
    if (*word == "--") {
      joined.insert(joined.end(), std::next(word), arguments.end());
      break;
    }
    const auto option = std::ranges::find_if(
        options, [&](const Option& known) { return *word == "--" + known.name; });
    const auto next = std::next(word);
    if (option == options.end() || option->placeholder.empty() || next == arguments.end()) continue;
    const bool is_number =
        !next->empty() && next->find_first_not_of("0123456789") == std::string::npos;
    if (option->implied.empty()) {
      joined.push_back(*++word);  // its value, whatever it looks like
    } else if (is_number) {
      joined.back() += "=" + *++word;
    }
  }
  return joined;
}

/// cxxopts would take --flag=false as the flag given.
void refuse_flag_values(const std::vector<Option>& options,
                        std::span<const std::string> arguments) {
  for (auto word = arguments.begin(); word != arguments.end() && *word != "--"; ++word) {
    const std::string name = word->substr(0, word->find('='));
    const auto option = std::ranges::find_if(
        options, [&](const Option& known) { return name == "--" + known.name; });
    if (option == options.end()) continue;
    const bool joined = name.size() < word->size();
    if (option->placeholder.empty() && joined) {
      throw Error(name, std::nullopt, "given the value \"" + word->substr(name.size() + 1) + "\"",
                  "no value");
    }
    const bool value_is_next = !option->placeholder.empty() && option->implied.empty() && !joined;
    if (value_is_next && std::next(word) != arguments.end()) ++word;
  }
}

}  // namespace

OptionSet::OptionSet(CommandSyntax syntax, std::span<const std::string> arguments) {
  syntax.options.push_back({"threads", "N", "OpenMP threads (also before the subcommand)"});
  syntax.options.push_back({"help", "", "Print this help"});
  cxxopts::Options declared = declare(syntax);
  m_help = declared.help();
  m_options = syntax.options;
  const std::vector<std::string> joined = with_joined_numbers(m_options, arguments);
  refuse_flag_values(m_options, joined);

  std::vector<const char*> words{syntax.name.c_str()};
  for (const std::string& argument : joined) words.push_back(argument.c_str());
  try {
    const auto parsed = declared.parse(static_cast<int>(words.size()), words.data());
    for (const auto& argument : parsed.arguments()) {
      m_given.push_back({argument.key(), argument.value()});
    }
    m_operands = parsed.unmatched();
  } catch (const cxxopts::exceptions::exception& problem) {
    throw Error("option", std::nullopt, std::string("wrong (") + problem.what() + ")",
                "one of those in tokkos " + syntax.name + " --help");
  }
  for (const Option& option : m_options) {
    const auto count = std::ranges::count(m_given, option.name, &Given::name);
    if (count > 1 && !option.repeats) {
      throw Error("--" + option.name, std::nullopt, "given " + std::to_string(count) + " times",
                  "once");
    }
  }
  if (syntax.operands.empty() && !m_operands.empty()) {
    throw Error("argument", std::nullopt, "\"" + m_operands.front() + "\"",
                "options only (see tokkos " + syntax.name + " --help)");
  }
}

std::optional<int> OptionSet::threads() const {
  const auto text = value("threads");
  if (!text) return std::nullopt;
  return parse_threads("--threads", *text);
}

bool OptionSet::has(const std::string& name) const {
  return std::ranges::find(m_given, name, &Given::name) != m_given.end();
}

std::optional<std::string> OptionSet::value(const std::string& name) const {
  const auto given = std::ranges::find(m_given, name, &Given::name);
  if (given != m_given.end()) return given->value;
  const auto option = std::ranges::find(m_options, name, &Option::name);
  if (option == m_options.end() || option->fallback.empty()) return std::nullopt;
  return option->fallback;
}

std::vector<std::string> OptionSet::values(const std::string& name) const {
  std::vector<std::string> all;
  for (const Given& given : m_given) {
    if (given.name == name) all.push_back(given.value);
  }
  return all;
}

std::string OptionSet::required(const std::string& name) const {
  const auto given = value(name);
  if (!given || given->empty()) {
    throw Error("--" + name, std::nullopt, given ? "empty" : "missing", "a value");
  }
  return *given;
}

std::int64_t parse_integer(const std::string& name, const std::string& text, std::int64_t lowest,
                           std::int64_t highest) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end || number < lowest || number > highest) {
    throw Error(name, std::nullopt, text.empty() ? "empty" : text,
                "an integer in [" + to_text(lowest) + ", " + to_text(highest) + "]");
  }
  return number;
}

}  // namespace tokkos::tools
