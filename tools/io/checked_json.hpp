// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tokkos::tools {

/// Parses JSON that may come from anywhere, in time that grows with its length alone.
/// @param name what errors call it, usually the file
/// @param max_depth deepest nesting of arrays and objects
/// @throws Error for malformed or too deep JSON, bytes that are not UTF-8, a key that stands twice,
/// a number that no double holds
nlohmann::json parse_json(std::string_view text, const std::string& name, int max_depth);

/// A text as it appears in an Error: one line, control characters as spaces, cut when longer than
/// that many bytes, between code points.
std::string shortened(std::string text, std::size_t longest = 60);

/// A JSON value as it appears in an Error: one line, cut when long.
std::string shown(const nlohmann::json& value);

/// The members of a JSON object, each read with its type and range checked. Errors read
/// "<name>.<key> is <value>, expected <what>".
class JsonObject {
 public:
  /// @throws Error if `value` is no object
  JsonObject(const nlohmann::json& value, std::string name);

  /// @throws Error if the object has any other key
  void allow_only(std::initializer_list<std::string_view> keys) const;

  /// The member, or null if there is none.
  const nlohmann::json* find(std::string_view key) const;

  /// A number that is finite as float32, not yet narrowed; `fallback` if there is no such member.
  double number(std::string_view key, double fallback, const char* expected) const;
  std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t lowest,
                       std::int64_t highest) const;
  std::uint64_t unsigned_integer(std::string_view key, std::uint64_t fallback) const;
  bool boolean(std::string_view key, bool fallback) const;
  std::string text(std::string_view key, const std::string& fallback) const;
  /// Empty if there is no such member.
  /// @param expected what an Error says of an element; empty: the range
  std::vector<std::int32_t> integers(std::string_view key, std::int64_t lowest,
                                     std::int64_t highest, const std::string& expected = {}) const;

  /// Throws Error{name.key, its value, expected} unless `ok`.
  void require(bool ok, std::string_view key, const std::string& expected) const;

  const std::string& name() const { return m_name; }
  const nlohmann::json& value() const { return *m_value; }

 private:
  const nlohmann::json* m_value;
  std::string m_name;
};

}  // namespace tokkos::tools
