// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tokkos/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace tokkos::interop {

/// Structs begin with the size that the caller was compiled with. No member is larger than a word
/// and none crosses a word's end, so every size of whole words ends at a member's end.
template <class Struct>
inline constexpr bool is_sized =
    std::is_standard_layout_v<Struct>&& std::is_trivially_copyable_v<Struct> &&
    sizeof(Struct) % sizeof(std::size_t) == 0 &&
    std::is_same_v<decltype(Struct::size), std::size_t>&& offsetof(Struct, size) == 0;

/// Sizes that no version of any struct reaches: a larger one is memory that was not initialized.
inline constexpr std::size_t largest_size = 4096;

/// Throws unless `size` may be that of a struct.
inline void check_size(const std::string& name, std::size_t size) {
  if (size >= sizeof(std::size_t) && size <= largest_size && size % sizeof(std::size_t) == 0)
    return;
  throw Error(name + ".size", std::nullopt, std::to_string(size),
              "that of the struct: take it from its default function");
}

/// A copy of the caller's struct, of whatever version: members that it does not have keep the
/// values of `defaults`. @throws Error if it is null or has members, not zero, of a later version
template <class Struct>
Struct read_struct(const std::string& name, const Struct* given, Struct defaults) {
  static_assert(is_sized<Struct>);
  if (given == nullptr) throw Error(name, std::nullopt, "null", "a struct");
  const std::size_t size = given->size;
  check_size(name, size);
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] == 0) continue;
    throw Error(name + ".size", std::nullopt, std::to_string(size),
                "at most " + std::to_string(sizeof(Struct)) +
                    ", or zeros behind: this library knows no later members");
  }
  std::memcpy(&defaults, bytes, std::min(size, sizeof(Struct)));
  return defaults;
}

/// Fills the members that the caller's struct has.
template <class Struct>
void write_struct(const std::string& name, Struct* given, Struct value) {
  static_assert(is_sized<Struct>);
  if (given == nullptr) throw Error(name, std::nullopt, "null", "a struct");
  check_size(name, given->size);
  value.size = given->size;
  std::memcpy(given, &value, std::min(given->size, sizeof(Struct)));
}

/// What a default function does: the caller's size, and zeros in members of a later version.
template <class Struct>
void initialize_struct(Struct* given, std::size_t size, Struct value) noexcept {
  static_assert(is_sized<Struct>);
  if (given == nullptr || size < sizeof(std::size_t)) return;
  std::memset(given, 0, size);
  value.size = size;
  std::memcpy(given, &value, std::min(size, sizeof(Struct)));
}

/// An array that the caller gave as pointer and count.
/// @throws Error if it is null but not empty, or longer than addresses reach
template <class T>
const T* checked_array(const std::string& name, const T* values, std::size_t count) {
  if (values == nullptr && count > 0) {
    throw Error(name, std::nullopt, "null", std::to_string(count) + " elements");
  }
  using Element = std::conditional_t<std::is_void_v<T>, char, T>;
  constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(Element);
  if (count > most) {
    throw Error(name + ".size", std::nullopt, std::to_string(count),
                "at most " + std::to_string(most));
  }
  return values;
}

/// Throws unless the caller's array has the expected number of elements.
inline void check_count(const char* name, std::size_t count, std::size_t expected) {
  if (count == expected) return;
  throw Error(std::string(name) + ".size", std::nullopt, std::to_string(count),
              std::to_string(expected));
}

/// A pointer through which something is given back. @throws Error if it is null
template <class T>
T& checked_result(const char* name, T* result) {
  if (result == nullptr) throw Error(name, std::nullopt, "null", "where to store it");
  return *result;
}

}  // namespace tokkos::interop
