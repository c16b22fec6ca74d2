// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tokkos::tools {

/// An option of a subcommand. Without a placeholder it is a flag.
struct Option {
  std::string name;         ///< without dashes
  std::string placeholder;  ///< of its value, "FILE"; empty for a flag
  std::string description;
};

/// The options of one subcommand as they were given on the command line. --help is always among
/// them.
class OptionSet {
 public:
  /// @param command name of the subcommand
  /// @param summary first line of its help
  /// @param options its options
  /// @param arguments what stands after the subcommand
  /// @throws Error for an unknown option, a missing value, an option given twice, a stray argument
  OptionSet(const std::string& command, const std::string& summary, std::vector<Option> options,
            std::span<const std::string> arguments);

  bool wants_help() const { return has("help"); }
  const std::string& help() const { return m_help; }

  bool has(const std::string& name) const;
  std::optional<std::string> value(const std::string& name) const;

  /// @throws Error if the option is missing or empty
  std::string required(const std::string& name) const;

 private:
  struct Given {
    std::string name;
    std::string value;
  };

  std::string m_help;
  std::vector<Given> m_given;
};

/// An option's value as an integer in [lowest, highest]. @throws Error that names the option
std::int64_t parse_integer(const std::string& option, const std::string& text, std::int64_t lowest,
                           std::int64_t highest);

}  // namespace tokkos::tools
