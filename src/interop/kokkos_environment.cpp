// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "interop/kokkos_environment.hpp"

#include <tokkos/core/error.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace tokkos::interop {

namespace {

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(const char* name, const std::string& value, const std::string& expected) {
  throw Error(name, std::nullopt, "\"" + value + "\"",
              expected + " (an environment variable of Kokkos)");
}

void check_number(const char* name, std::string_view text, long least, long most) {
  long number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = problem == std::errc{} && end == text.data() + text.size();
  if (is_number && number >= least && number <= most) return;
  refuse(name, std::string(text),
         "a number in [" + std::to_string(least) + ", " + std::to_string(most) + "]");
}

void check_boolean(const char* name) {
  const auto value = variable(name);
  if (!value) return;
  std::string lower = *value;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 6> known{"yes", "true", "1", "no", "false", "0"};
  if (std::ranges::find(known, lower) == known.end()) {
    refuse(name, *value, "yes, true, 1, no, false or 0");
  }
}

void check_devices() {
  const int devices = Kokkos::num_devices();  // negative: no backend has any
  const long last = devices < 0 ? INT_MAX : long{devices} - 1;
  if (const auto id = variable("KOKKOS_DEVICE_ID")) {
    check_number("KOKKOS_DEVICE_ID", *id, 0, last);
  }
  if (const auto visible = variable("KOKKOS_VISIBLE_DEVICES")) {
    for (std::size_t begin = 0; begin <= visible->size();) {
      const std::size_t end = std::min(visible->find(',', begin), visible->size());
      check_number("KOKKOS_VISIBLE_DEVICES", std::string_view(*visible).substr(begin, end - begin),
                   0, last);
      begin = end + 1;
    }
  }
  const auto map = variable("KOKKOS_MAP_DEVICE_ID_BY");
  if (map && *map != "mpi_rank" && *map != "random") {
    refuse("KOKKOS_MAP_DEVICE_ID_BY", *map, "mpi_rank or random");
  }
}

/// OMP_NUM_THREADS may be a list, one number per level; wrong ones are ignored by OpenMP itself. Of
/// any others Kokkos starts as many as it says, before it looks at what it was asked for.
void check_openmp_threads() {
  const std::string value = variable("OMP_NUM_THREADS").value_or("");
  const std::string first = value.substr(0, value.find(','));
  if (first.empty() || first.find_first_not_of("0123456789") != std::string::npos) return;
  if (first.size() <= 9 && std::atol(first.c_str()) <= most_threads) return;
  throw Error("OMP_NUM_THREADS", std::nullopt, "\"" + value + "\"",
              "at most " + std::to_string(most_threads) + " threads, for which Kokkos has room");
}

}  // namespace

void check_environment() {
  if (const auto threads = variable("KOKKOS_NUM_THREADS")) {
    check_number("KOKKOS_NUM_THREADS", *threads, 1, most_threads);
  }
  check_openmp_threads();
  check_devices();
  for (const char* name :
       {"KOKKOS_DISABLE_WARNINGS", "KOKKOS_PRINT_CONFIGURATION", "KOKKOS_TUNE_INTERNALS"}) {
    check_boolean(name);
  }
  const auto profiler = variable("KOKKOS_PROFILE_LIBRARY");
  const auto tools = variable("KOKKOS_TOOLS_LIBS");
  if (profiler && tools && *profiler != *tools) {
    refuse("KOKKOS_PROFILE_LIBRARY", *profiler, "none beside KOKKOS_TOOLS_LIBS");
  }
}

int threads_of_environment() {
  if (variable("KOKKOS_NUM_THREADS")) return 0;
  const bool has_more = std::thread::hardware_concurrency() > most_threads;
  return has_more && !variable("OMP_NUM_THREADS") ? static_cast<int>(most_threads) : 0;
}

}  // namespace tokkos::interop
