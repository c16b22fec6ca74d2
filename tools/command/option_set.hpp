// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tokkos::tools {

/// An option of a subcommand. Without a placeholder it is a flag, which takes no value.
struct Option {
  std::string name;         ///< without dashes
  std::string placeholder;  ///< of its value, "FILE"; empty for a flag
  std::string description;
  std::string fallback = {};  ///< its value where it is not given; empty: none
  bool repeats = false;       ///< whether it may be given more than once
  /// Its value where it is given without one; then only a number may follow as the value.
  std::string implied = {};
};

/// What a subcommand takes.
struct CommandSyntax {
  std::string name;
  std::string summary;  ///< first lines of its help
  std::vector<Option> options;
  std::string operands = {};  ///< "FILE..."; empty: options only
};

/// The options and operands of one subcommand as they were given on the command line. --help and
/// --threads are always among the options.
class OptionSet {
 public:
  /// @param arguments what stands after the subcommand
  /// @throws Error for an unknown option, a missing value, a flag with a value, an option given
  /// twice, a stray argument
  OptionSet(CommandSyntax syntax, std::span<const std::string> arguments);

  bool wants_help() const { return has("help"); }
  const std::string& help() const { return m_help; }

  /// The value of --threads. @throws Error if it is out of range
  std::optional<int> threads() const;

  /// Whether the option was given.
  bool has(const std::string& name) const;

  /// The option's value, given or fallback.
  std::optional<std::string> value(const std::string& name) const;

  /// All values of an option that repeats, in their order.
  std::vector<std::string> values(const std::string& name) const;

  /// @throws Error if the option has no value or an empty one
  std::string required(const std::string& name) const;

  const std::vector<std::string>& operands() const { return m_operands; }

 private:
  struct Given {
    std::string name;
    std::string value;
  };

  std::string m_help;
  std::vector<Option> m_options;
  std::vector<Given> m_given;
  std::vector<std::string> m_operands;
};

/// The text of `name` as an integer in [lowest, highest]. @throws Error that names it
std::int64_t parse_integer(const std::string& name, const std::string& text, std::int64_t lowest,
                           std::int64_t highest);

}  // namespace tokkos::tools
