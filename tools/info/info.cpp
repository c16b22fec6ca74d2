// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/info/info.hpp"

#include <tokkos/core/version.hpp>
#include <tokkos/numerics/chunk.hpp>
#include <tokkos/numerics/exact_sum.hpp>

#include <Kokkos_Core.hpp>

#include <nlohmann/json.hpp>

#include <iomanip>
#include <ostream>
#include <sstream>
#include <type_traits>

namespace tokkos::tools {

namespace {

using nlohmann::ordered_json;

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) +
         "." + std::to_string(KOKKOS_VERSION % 100);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const auto begin = line.find_first_not_of(' ');
    const bool headline = line.ends_with(':');
    if (begin != std::string::npos && !headline) lines.push_back(line.substr(begin));
  }
  return lines;
}

template <class Space>
ordered_json device_of(const Space& space) {
  const bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;
  std::string name = on_host ? "host" : "accelerator";
  if constexpr (requires { space.cuda_device_prop().name; }) name = space.cuda_device_prop().name;
  if constexpr (requires { Space::hip_device_prop().name; }) name = Space::hip_device_prop().name;
  return {{"backend", Space::name()}, {"name", name}, {"concurrency", space.concurrency()}};
}

ordered_json devices() {
  ordered_json list = ordered_json::array();
  list.push_back(device_of(Kokkos::DefaultExecutionSpace()));
  if constexpr (!std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>) {
    list.push_back(device_of(Kokkos::DefaultHostExecutionSpace()));
  }
  return list;
}

ordered_json describe() {
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration, true);
  ordered_json info;
  info["version"] = version();
  info["revision"] = revision();
  info["kokkos_version"] = kokkos_version();
  info["backends"] = nlohmann::json::parse(TOKKOS_BACKENDS_JSON);
  info["default_backend"] = Kokkos::DefaultExecutionSpace::name();
  info["devices"] = devices();
  info["numerics"] = {{"exp", "portable_exp: two-term reduction, fma polynomial, at most 1.1 ulp"},
                      {"chunk", chunk_size},
                      {"grid", "2^-44"}};
  info["kokkos_configuration"] = lines_of(configuration.str());
  return info;
}

std::string value_text(const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& element : value) text += (text.empty() ? "" : ", ") + value_text(element);
  return text;
}

void print_line(std::ostream& out, const std::string& name, const std::string& value) {
  out << std::left << std::setw(18) << name << "  " << value << '\n';
}

void print(const ordered_json& info, std::ostream& out) {
  for (const auto& [name, value] : info.items()) {
    if (name == "devices") {
      for (const auto& device : value) {
        print_line(out, "device",
                   value_text(device["backend"]) + ": " + value_text(device["name"]) +
                       ", concurrency " + value_text(device["concurrency"]));
      }
    } else if (value.is_object()) {
      for (const auto& [part, text] : value.items()) print_line(out, part, value_text(text));
    } else if (name == "kokkos_configuration") {
      for (const auto& line : value) print_line(out, "kokkos", value_text(line));
    } else {
      print_line(out, name, value_text(value));
    }
  }
}

}  // namespace

OptionSet parse_info(std::span<const std::string> arguments) {
  return OptionSet({"info",
                    "Print versions, configuration, backends, devices and numerics.",
                    {{"json", "", "Print JSON"}}},
                   arguments);
}

void run_info(const OptionSet& options, std::ostream& out) {
  if (options.has("json")) {
    out << describe().dump(2) << '\n';
  } else {
    print(describe(), out);
  }
}

}  // namespace tokkos::tools
