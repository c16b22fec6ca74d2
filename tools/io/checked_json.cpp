// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/checked_json.hpp"

#include <tokkos/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tokkos::tools {

using nlohmann::json;

namespace {

/// Watches a parse: the depth, and the keys of every object that is open.
class JsonGuard {
 public:
  JsonGuard(std::string name, int max_depth) : m_name(std::move(name)), m_max_depth(max_depth) {}

  bool operator()(int depth, json::parse_event_t event, const json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
        m_open_keys.emplace_back();
        [[fallthrough]];
      case json::parse_event_t::array_start:
        if (depth >= m_max_depth) {
          throw Error(m_name + ": depth of the JSON", std::nullopt,
                      to_text(std::int64_t{depth} + 1), "at most " + std::to_string(m_max_depth));
        }
        break;
      case json::parse_event_t::object_end:
        m_open_keys.pop_back();
        break;
      case json::parse_event_t::key:
        if (!m_open_keys.back().insert(parsed.get_ref<const std::string&>()).second) {
          throw Error(m_name + ": JSON key", std::nullopt, shown(parsed) + " a second time",
                      "each key of an object once");
        }
        break;
      default:
        break;
    }
    return true;
  }

 private:
  std::string m_name;
  int m_max_depth;
  std::vector<std::set<std::string>> m_open_keys;
};

std::string integer_range(std::int64_t lowest, std::int64_t highest) {
  return "an integer in [" + to_text(lowest) + ", " + to_text(highest) + "]";
}

bool is_integer_in(const json& value, std::int64_t lowest, std::int64_t highest) {
  if (value.is_number_unsigned()) {
    return std::cmp_greater_equal(value.get<std::uint64_t>(), lowest) &&
           std::cmp_less_equal(value.get<std::uint64_t>(), highest);
  }
  return value.is_number_integer() && value.get<std::int64_t>() >= lowest &&
         value.get<std::int64_t>() <= highest;
}

}  // namespace

json parse_json(std::string_view text, const std::string& name, int max_depth) {
  JsonGuard guard(name, max_depth);
  try {
    return json::parse(text, [&guard](int depth, json::parse_event_t event, const json& parsed) {
      return guard(depth, event, parsed);
    });
  } catch (const json::exception& problem) {
    throw Error(name, std::nullopt, std::string("no JSON (") + problem.what() + ")",
                "well-formed JSON in UTF-8");
  }
}

std::string shown(const json& value) {
  constexpr std::size_t longest = 60;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

JsonObject::JsonObject(const json& value, std::string name)
    : m_value(&value), m_name(std::move(name)) {
  if (!value.is_object()) throw Error(m_name, std::nullopt, shown(value), "a JSON object");
}

void JsonObject::allow_only(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, member] : m_value->items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    std::string known;
    for (const std::string_view one : keys) known += (known.empty() ? "" : ", ") + std::string(one);
    throw Error(m_name, std::nullopt, "given the unknown field " + shown(json(key)),
                "only " + known);
  }
}

const json* JsonObject::find(std::string_view key) const {
  const auto member = m_value->find(key);
  return member == m_value->end() ? nullptr : &*member;
}

void JsonObject::require(bool ok, std::string_view key, const std::string& expected) const {
  if (ok) return;
  const json* member = find(key);
  throw Error(m_name + "." + std::string(key), std::nullopt, member ? shown(*member) : "missing",
              expected);
}

double JsonObject::number(std::string_view key, double fallback, const char* expected) const {
  const json* member = find(key);
  if (!member) return fallback;
  require(member->is_number(), key, expected);
  const double number = member->get<double>();
  require(std::isfinite(static_cast<float>(number)), key, expected);
  return number;
}

std::int64_t JsonObject::integer(std::string_view key, std::int64_t fallback, std::int64_t lowest,
                                 std::int64_t highest) const {
  const json* member = find(key);
  if (!member) return fallback;
  require(is_integer_in(*member, lowest, highest), key, integer_range(lowest, highest));
  return member->get<std::int64_t>();
}

std::uint64_t JsonObject::unsigned_integer(std::string_view key, std::uint64_t fallback) const {
  const json* member = find(key);
  if (!member) return fallback;
  require(member->is_number_unsigned(), key, "an integer in [0, 18446744073709551615]");
  return member->get<std::uint64_t>();
}

bool JsonObject::boolean(std::string_view key, bool fallback) const {
  const json* member = find(key);
  if (!member) return fallback;
  require(member->is_boolean(), key, "true or false");
  return member->get<bool>();
}

std::string JsonObject::text(std::string_view key, const std::string& fallback) const {
  const json* member = find(key);
  if (!member) return fallback;
  require(member->is_string(), key, "a string");
  return member->get<std::string>();
}

std::vector<std::int32_t> JsonObject::integers(std::string_view key, std::int64_t lowest,
                                               std::int64_t highest) const {
  const json* member = find(key);
  if (!member) return {};
  require(member->is_array(), key, "an array of integers");
  std::vector<std::int32_t> numbers;
  numbers.reserve(member->size());
  for (const json& element : *member) {
    if (!is_integer_in(element, lowest, highest)) {
      throw Error(m_name + "." + std::string(key), static_cast<std::int64_t>(numbers.size()),
                  shown(element), integer_range(lowest, highest));
    }
    numbers.push_back(element.get<std::int32_t>());
  }
  return numbers;
}

}  // namespace tokkos::tools
