// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/kokkos_settings.hpp"

#include <tokkos/core/error.hpp>

#include "tools/command/option_set.hpp"
#include "tools/command/thread_option.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

namespace tokkos::tools {

namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

void check_boolean(const char* name) {
  const auto value = variable(name);
  if (!value) return;
  std::string lower = *value;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto known = {"yes", "true", "1", "no", "false", "0"};
  if (std::ranges::find(known, lower) != known.end()) return;
  throw Error(name, std::nullopt, "\"" + *value + "\"", "yes, true, 1, no, false or 0");
}

/// OMP_NUM_THREADS may be a list, one number per level; wrong ones are ignored by OpenMP itself.
void check_openmp_threads() {
  constexpr const char* name = "OMP_NUM_THREADS";
  const std::string value = variable(name).value_or("");
  const std::string first = value.substr(0, value.find(','));
  const bool number = first.find_first_not_of("0123456789") == std::string::npos;
  if (number && first.find_first_not_of('0') != std::string::npos) parse_threads(name, first);
}

void check_devices() {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (const auto visible = variable("KOKKOS_VISIBLE_DEVICES")) {
    std::istringstream list(*visible + ",");
    for (std::string id; std::getline(list, id, ',');) {
      parse_integer("KOKKOS_VISIBLE_DEVICES", id, 0, most);
    }
  }
  if (const auto id = variable("KOKKOS_DEVICE_ID")) {
    const int devices = Kokkos::num_devices();  // negative: no backend has any
    parse_integer("KOKKOS_DEVICE_ID", *id, 0, devices < 0 ? most : std::int64_t{devices} - 1);
  }
}

/// Kokkos goes on without a library that it cannot load, and warns of the old variable.
void check_tools() {
  if (const auto old = variable("KOKKOS_PROFILE_LIBRARY")) {
    throw Error("KOKKOS_PROFILE_LIBRARY", std::nullopt, "\"" + *old + "\"",
                "none (it is KOKKOS_TOOLS_LIBS now)");
  }
  const std::string libraries = variable("KOKKOS_TOOLS_LIBS").value_or("");
  const std::string first = libraries.substr(0, libraries.find(';'));  // the one that Kokkos loads
  if (first.empty()) return;
  // Not closed again: Kokkos opens it the same way.
  if (dlopen(first.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  const char* reason = dlerror();
  throw Error("KOKKOS_TOOLS_LIBS", std::nullopt, "\"" + first + "\"",
              std::string("a library that can be loaded (") + (reason ? reason : "") + ")");
}

/// OpenMP ends the program where it cannot make stacks of that size, which is in KiB or ends in one
/// of the units B, K, M and G. It ignores anything else.
void check_stack_size(const char* name) {
  const std::string value = variable(name).value_or("");
  const std::size_t begin = std::min(value.find_first_not_of(" \t"), value.size());
  const char* end = value.data() + value.size();
  std::uint64_t size = 0;
  const auto [stop, problem] = std::from_chars(value.data() + begin, end, size);
  if (problem == std::errc::invalid_argument) return;
  const char* unit = std::find_if_not(stop, end, [](char c) { return c == ' ' || c == '\t'; });
  const std::size_t power = unit == end ? 1 : std::string_view("BKMGbkmg").find(*unit);
  if (power == std::string_view::npos) return;
  constexpr std::uint64_t most = 1 << 30;
  if (problem == std::errc{} && size <= most >> (10 * (power % 4))) return;
  throw Error(name, std::nullopt, "\"" + value + "\"", "a stack of at most 1 GiB (1G)");
}

void check_environment() {
  if (const auto threads = variable("KOKKOS_NUM_THREADS")) {
    parse_threads("KOKKOS_NUM_THREADS", *threads);
  }
  check_devices();
  for (const char* name :
       {"KOKKOS_DISABLE_WARNINGS", "KOKKOS_PRINT_CONFIGURATION", "KOKKOS_TUNE_INTERNALS"}) {
    check_boolean(name);
  }
  const auto map = variable("KOKKOS_MAP_DEVICE_ID_BY");
  if (map && *map != "mpi_rank" && *map != "random") {
    throw Error("KOKKOS_MAP_DEVICE_ID_BY", std::nullopt, "\"" + *map + "\"", "mpi_rank or random");
  }
  if (map && variable("KOKKOS_DEVICE_ID")) {
    throw Error("KOKKOS_MAP_DEVICE_ID_BY", std::nullopt, "\"" + *map + "\"",
                "none beside KOKKOS_DEVICE_ID");
  }
  check_tools();
  for (const char* name : {"OMP_STACKSIZE", "OMP_STACKSIZE_ALL", "GOMP_STACKSIZE"}) {
    check_stack_size(name);
  }
}

}  // namespace

Kokkos::InitializationSettings kokkos_settings(std::optional<int> threads) {
  check_environment();
  auto settings =
      Kokkos::InitializationSettings().set_disable_warnings(true).set_print_configuration(false);
  if (threads) return settings.set_num_threads(*threads);
  if (!variable("KOKKOS_NUM_THREADS")) {
    check_openmp_threads();
    constexpr unsigned most = 512;  // see parse_threads
    if (!variable("OMP_NUM_THREADS") && std::thread::hardware_concurrency() > most) {
      settings.set_num_threads(static_cast<int>(most));
    }
  }
  return settings;
}

}  // namespace tokkos::tools
