// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>

#include <array>
#include <cfenv>
#include <charconv>
#include <utility>

namespace tokkos {

namespace {

std::string message(const std::string& field, std::optional<std::int64_t> index,
                    const std::string& value, const std::string& expected) {
  std::string text = field;
  if (index) text.append("[").append(std::to_string(*index)).append("]");
  return text.append(" is ").append(value).append(", expected ").append(expected);
}

template <class T>
std::string shortest(T value) {
  std::array<char, 64> buffer;
  // To a thread that flushes to zero a subnormal number is 0.
  std::fenv_t mode;
  std::fegetenv(&mode);
  std::fesetenv(FE_DFL_ENV);
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::fesetenv(&mode);
  return std::string(buffer.data(), end);
}

}  // namespace

Error::Error(std::string field, std::optional<std::int64_t> index, std::string value,
             std::string expected)
    : std::runtime_error(message(field, index, value, expected)),
      m_field(std::move(field)),
      m_index(index),
      m_value(std::move(value)),
      m_expected(std::move(expected)) {}

std::string to_text(double value) {
  return shortest(value);
}
std::string to_text(float value) {
  return shortest(value);
}
std::string to_text(std::int64_t value) {
  return shortest(value);
}

}  // namespace tokkos
