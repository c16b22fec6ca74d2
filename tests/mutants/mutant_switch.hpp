// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

// Included before every file of the copy of the sources that ci/mutants builds: that copy has every
// mutant in it, and the environment variable TOKKOS_MUTANT names the one that is awake.

namespace tokkos_mutants {

constexpr std::uint32_t number_of(std::string_view name) {
  std::uint32_t hash = 0x811C9DC5u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return hash;
}

template <std::uint32_t number>
inline constexpr std::uint32_t constant = number;

inline std::uint32_t number_of_awake() {
  const char* const name = std::getenv("TOKKOS_MUTANT");
  return name == nullptr ? 0 : number_of(name);
}

inline const std::uint32_t awake = number_of_awake();

}  // namespace tokkos_mutants

// Constants that are computed while compiling are never mutated: one build serves all mutants.
#define TOKKOS_MUTANT(name)              \
  (!__builtin_is_constant_evaluated() && \
   ::tokkos_mutants::awake == ::tokkos_mutants::constant<::tokkos_mutants::number_of(name)>)
