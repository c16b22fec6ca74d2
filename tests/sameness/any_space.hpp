// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends.hpp"

#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace tokkos::test {

/// The default instance, and where a space takes a number of threads, instances of 1, 2, 3 and 7.
template <class Space>
std::vector<Space> instances_of() {
  std::vector<Space> instances{Space()};
  if constexpr (std::is_constructible_v<Space, int>) {
    for (const int threads : {1, 2, 3, 7}) instances.push_back(Space(threads));
  }
  return instances;
}

namespace detail {
template <class... Spaces>
auto variant_of(std::tuple<Spaces...>) -> std::variant<Spaces...>;
}  // namespace detail

/// An instance of any enabled execution space, so that templates over them are instantiated in the
/// source files that define them.
using AnySpace = decltype(detail::variant_of(ExecutionSpaces{}));

template <class... Spaces>
std::vector<AnySpace> instances_of_all(std::tuple<Spaces...>) {
  std::vector<AnySpace> all;
  const auto append = [&all](const auto& instances) {
    for (const auto& space : instances) all.emplace_back(space);
  };
  (append(instances_of<Spaces>()), ...);
  return all;
}

/// "OpenMP with 3 threads"
inline std::string name_of(const AnySpace& any) {
  return std::visit(
      [](const auto& space) {
        return std::string(space.name()) + " with " + std::to_string(space.concurrency()) +
               " threads";
      },
      any);
}

}  // namespace tokkos::test
