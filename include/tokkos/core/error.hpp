// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace tokkos {

/// What every function of Tokkos throws when the host can see that an input is bad. It is thrown
/// before anything is written. what() reads "field[index] is value, expected what was expected".
class Error : public std::runtime_error {
 public:
  /// Parameters as the members of these names.
  Error(std::string field, std::optional<std::int64_t> index, std::string value,
        std::string expected);

  /// Name of the argument, array or struct member that is wrong.
  const std::string& field() const { return m_field; }
  /// Position of the bad element in that array, if it is an array.
  std::optional<std::int64_t> index() const { return m_index; }
  /// Number of the request of a step that is wrong, where field() is a part of one:
  /// "generation_configs[2].top_p".
  std::optional<std::int64_t> request() const;
  /// The bad value as text.
  const std::string& value() const { return m_value; }
  /// The values that are accepted.
  const std::string& expected() const { return m_expected; }

 private:
  std::string m_field;
  std::optional<std::int64_t> m_index;
  std::string m_value;
  std::string m_expected;
};

/// Text of a number as it appears in an Error: the shortest that reads back to the same value.
std::string to_text(double value);
/// See above.
std::string to_text(float value);
/// See above.
std::string to_text(std::int64_t value);
/// See above.
inline std::string to_text(std::int32_t value) {
  return to_text(std::int64_t{value});
}

/// Throws Error{field, index, value, expected} unless `ok`.
template <class T>
void require(bool ok, const char* field, std::optional<std::int64_t> index, T value,
             const char* expected) {
  if (!ok) throw Error(field, index, to_text(value), expected);
}

}  // namespace tokkos
