// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/core/error.hpp>

#include "core/request_of.hpp"

#include <algorithm>
#include <array>
#include <cfenv>
#include <charconv>
#include <system_error>
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

/// The lists of StepRequests, and of a step in C.
constexpr std::array<std::string_view, 5> lists_of_requests = {
    "generation_configs", "sequence_states", "draft_trees", "draft_token_indices", "requests"};

}  // namespace

std::optional<std::int64_t> request_of(std::string_view field) {
  const std::size_t bracket = field.find('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  if (std::ranges::find(lists_of_requests, field.substr(0, bracket)) == lists_of_requests.end()) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const char* const first = field.data() + bracket + 1;
  const auto read = std::from_chars(first, field.data() + field.size(), number);
  if (read.ec != std::errc()) return std::nullopt;
  return number;
}

Error::Error(std::string field, std::optional<std::int64_t> index, std::string value,
             std::string expected)
    : std::runtime_error(message(field, index, value, expected)),
      m_field(std::move(field)),
      m_index(index),
      m_value(std::move(value)),
      m_expected(std::move(expected)) {}

std::optional<std::int64_t> Error::request() const {
  return request_of(m_field);
}

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
