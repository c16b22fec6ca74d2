// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/thread_option.hpp"

#include <tokkos/core/error.hpp>

#include "tools/command/option_set.hpp"

namespace tokkos::tools {

int parse_threads(const std::string& name, const std::string& text) {
  return static_cast<int>(parse_integer(name, text, 1, 512));
}

std::optional<int> take_threads(std::vector<std::string>& arguments) {
  const std::string option = "--threads";
  std::optional<int> threads;
  while (!arguments.empty()) {
    const bool separate = arguments[0] == option;
    if (!separate && !arguments[0].starts_with(option + "=")) break;
    if (threads) throw Error(option, std::nullopt, "given 2 times", "once");
    if (separate && arguments.size() == 1) {
      throw Error(option, std::nullopt, "missing", "a number of threads");
    }
    threads =
        parse_threads(option, separate ? arguments[1] : arguments[0].substr(option.size() + 1));
    arguments.erase(arguments.begin(), arguments.begin() + (separate ? 2 : 1));
  }
  return threads;
}

}  // namespace tokkos::tools
