// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/checked_json.hpp"

#include <tokkos/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tokkos::tools {

using nlohmann::json;

namespace {

/// Builds the value while it checks the depth and the keys. Each step takes no longer for a larger
/// parent: a parse with json's own callback searches the parent at the end of every child.
class JsonBuilder {
 public:
  JsonBuilder(const std::string& name, int max_depth) : m_name(name), m_max_depth(max_depth) {}

  json take() { return std::move(m_root); }

  // What json::sax_parse calls; true: go on.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string& /*token*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*unknown*/) { return open(json::object()); }
  bool start_array(std::size_t /*unknown*/) { return open(json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& key) {
    Open& object = m_open.back();
    if (object.value->contains(key)) {
      throw Error(m_name + ": JSON key", std::nullopt, shown(json(key)) + " a second time",
                  "each key of an object once");
    }
    object.member = &(*object.value)[key];
    object.key = std::move(key);
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& token,
                   const json::exception& problem) {
    constexpr int number_overflow = 406;
    if (problem.id == number_overflow) {
      throw Error(m_name + place(), std::nullopt, shortened(token), "a number that a double holds");
    }
    constexpr std::size_t longest = 200;  // it quotes the token
    throw Error(m_name, std::nullopt, "no JSON (" + shortened(problem.what(), longest) + ")",
                "well-formed JSON in UTF-8");
  }

 private:
  /// An array or object that has not ended.
  struct Open {
    json* value;
    json* member = nullptr;  // of an object: where the next value goes
    std::string key = {};    // of that member
  };

  /// Puts the value into the innermost open one.
  json* put(json value) {
    if (m_open.empty()) return &(m_root = std::move(value));
    const Open& parent = m_open.back();
    if (parent.value->is_object()) return &(*parent.member = std::move(value));
    parent.value->push_back(std::move(value));
    return &parent.value->back();
  }

  bool add(json value) {
    put(std::move(value));
    return true;
  }

  bool open(json empty) {
    const auto depth = static_cast<std::int64_t>(m_open.size());
    if (depth >= m_max_depth) {
      throw Error(m_name + ": depth of the JSON", std::nullopt, to_text(depth + 1),
                  "at most " + std::to_string(m_max_depth));
    }
    m_open.push_back({put(std::move(empty))});
    return true;
  }

  bool close() {
    m_open.pop_back();
    return true;
  }

  /// Where the next value goes: ": requests[3].temperature".
  std::string place() const {
    std::string text;
    for (const Open& parent : m_open) {
      if (parent.value->is_object()) {
        text += (text.empty() ? ": " : ".") + shortened(parent.key);
      } else {
        const bool innermost = &parent == &m_open.back();
        text += "[" + std::to_string(parent.value->size() - (innermost ? 0 : 1)) + "]";
      }
    }
    return text;
  }

  const std::string& m_name;
  int m_max_depth;
  json m_root;
  std::vector<Open> m_open;
};

std::string integer_range(std::int64_t lowest, std::int64_t highest) {
  return "an integer in [" + to_text(lowest) + ", " + to_text(highest) + "]";
}

bool is_integer_in(const json& value, std::int64_t lowest, std::int64_t highest) {
  if (value.is_number_unsigned()) {
    return std::cmp_greater_equal(value.get<std::uint64_t>(), lowest) &&
           std::cmp_less_equal(value.get<std::uint64_t>(), highest);
  }
  return value.is_number_integer() &&
         value.get<std::int64_t>() >= lowest;  // negative: at most `highest`
}

}  // namespace

json parse_json(std::string_view text, const std::string& name, int max_depth) {
  // The parser takes a NUL for the end of its input.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    throw Error(name, std::nullopt, "no JSON (byte " + std::to_string(nul) + " is NUL)",
                "well-formed JSON in UTF-8");
  }
  JsonBuilder builder(name, max_depth);
  json::sax_parse(text, &builder);
  return builder.take();
}

std::string shortened(std::string text, std::size_t longest) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  if (text.size() <= longest) return text;
  const auto within_code_point = [&text](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  };
  for (int back = 0; back < 3 && longest > 0 && within_code_point(longest); ++back) --longest;
  text.resize(longest);
  return text + "...";
}

std::string shown(const json& value) {
  return shortened(value.dump(-1, ' ', true, json::error_handler_t::replace));
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
  throw Error(m_name + "." + shortened(std::string(key)), std::nullopt,
              member ? shown(*member) : "missing", expected);
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
                                               std::int64_t highest,
                                               const std::string& expected) const {
  const json* member = find(key);
  if (!member) return {};
  require(member->is_array(), key, "an array of integers");
  std::vector<std::int32_t> numbers;
  numbers.reserve(member->size());
  for (const json& element : *member) {
    if (!is_integer_in(element, lowest, highest)) {
      throw Error(m_name + "." + std::string(key), static_cast<std::int64_t>(numbers.size()),
                  shown(element), expected.empty() ? integer_range(lowest, highest) : expected);
    }
    numbers.push_back(element.get<std::int32_t>());
  }
  return numbers;
}

}  // namespace tokkos::tools
