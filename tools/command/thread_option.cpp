// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/thread_option.hpp"

#include <tokkos/core/error.hpp>

#include "tools/command/option_set.hpp"

#include <iterator>

namespace tokkos::tools {

std::optional<int> take_threads(std::vector<std::string>& arguments) {
  const std::string option = "--threads";
  std::optional<int> threads;
  for (auto at = arguments.begin(); at != arguments.end() && *at != "--";) {
    const bool separate = *at == option;
    if (!separate && !at->starts_with(option + "=")) {
      ++at;
      continue;
    }
    if (threads) throw Error(option, std::nullopt, "given 2 times", "once");
    auto last = at;
    if (separate && ++last == arguments.end()) {
      throw Error(option, std::nullopt, "missing", "an integer in [1, 1024]");
    }
    const std::string text = separate ? *last : at->substr(option.size() + 1);
    threads = static_cast<int>(parse_integer("threads", text, 1, 1024));
    at = arguments.erase(at, std::next(last));
  }
  return threads;
}

}  // namespace tokkos::tools
