// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/decode_options.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/core/penalty_policy.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include <cfloat>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace tokkos::tools {

namespace {

// The whole text as a number in decimal notation, or nothing.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Values {
 public:
  explicit Values(const OptionSet& options) : m_options(options) {}

  std::string text(const std::string& name) const { return *m_options.value(name); }

  template <class T, class Accepts>
  T number(const std::string& name, const char* expected, const Accepts& accepts) const {
    const std::string given = text(name);
    const auto value = parse_number<T>(given);
    if (value && accepts(*value)) return *value;
    throw Error("--" + name, std::nullopt, given.empty() ? "empty" : given, expected);
  }

  std::int32_t count(const std::string& name, std::int32_t most) const {
    const std::string range = "1 to " + std::to_string(most);
    return number<std::int32_t>(name, range.c_str(),
                                [&](std::int32_t n) { return n >= 1 && n <= most; });
  }

  float real(const std::string& name, double least, double most, const char* expected) const {
    return static_cast<float>(
        number<double>(name, expected, [&](double x) { return x >= least && x <= most; }));
  }

 private:
  const OptionSet& m_options;
};

PenaltyPolicy parse_policy(const std::string& name) {
  if (const auto policy = find_penalty_policy(name)) return *policy;
  throw Error("--policy", std::nullopt, "\"" + name + "\"",
              "seed, openai, hugging_face or llama_cpp");
}

std::pair<std::string, double> parse_bias(const std::string& text, std::int64_t index) {
  const std::size_t equals = text.rfind('=');
  const bool has_word = equals != std::string::npos && equals > 0;
  const auto value = has_word ? parse_number<double>(text.substr(equals + 1)) : std::nullopt;
  if (!value || !(std::abs(*value) <= double{FLT_MAX} || *value == -INFINITY)) {
    throw Error("--bias", index, "\"" + text + "\"",
                "WORD=X with a number X in the range of float32, or -inf");
  }
  return {text.substr(0, equals), *value};
}

void read_truncation(const Values& values, GenerationConfig& config) {
  constexpr double least = std::numeric_limits<float>::denorm_min();
  config.top_p = values.real("top-p", least, 1.0, "a number above 0 and at most 1");
  config.top_k = values.number<std::int32_t>("top-k", "an integer of at least 0",
                                             [](std::int32_t k) { return k >= 0; });
  config.min_p = values.real("min-p", 0.0, 1.0, "a number from 0 to 1");
}

}  // namespace

DecodeOptions read_decode_options(const OptionSet& given) {
  const Values values(given);
  DecodeOptions options;
  constexpr double largest = FLT_MAX;
  options.files = given.operands();
  options.batch = values.count("batch", 1024);
  options.tree = parse_tree_shape(values.text("tree"));
  options.prompt = given.value("prompt").value_or("");
  options.max_tokens = values.count("max-tokens", 1 << 24);
  options.config.temperature =
      values.real("temperature", 0.0, largest, "a finite number of at least 0");
  options.config.presence_penalty =
      values.real("presence-penalty", -largest, largest, "a finite number");
  options.config.frequency_penalty =
      values.real("frequency-penalty", -largest, largest, "a finite number");
  options.config.repetition_penalty =
      values.real("repetition-penalty", std::numeric_limits<float>::denorm_min(), largest,
                  "a finite number above 0");
  read_truncation(values, options.config);
  options.config.penalty_policy = parse_policy(values.text("policy"));
  options.config.penalty_window =
      values.number<std::int32_t>("penalty-window", "an integer of at least -1",
                                  [](std::int32_t length) { return length >= -1; });
  options.config.seed = values.number<std::uint64_t>("seed", "an integer from 0 to 2^64 - 1",
                                                     [](std::uint64_t) { return true; });
  for (const std::string& bias : given.values("bias")) {
    options.word_bias.push_back(
        parse_bias(bias, static_cast<std::int64_t>(options.word_bias.size())));
  }
  if (given.has("constraint")) options.constraint = given.required("constraint");
  if (given.has("text")) options.text_file = given.required("text");
  options.no_speculation = given.has("no-speculation");
  options.strict = given.has("strict");
  if (given.has("trace")) options.trace_file = given.required("trace");
  if (given.has("logprobs")) {
    options.most_likely = static_cast<std::int32_t>(
        parse_integer("--logprobs", values.text("logprobs"), 0, max_top_tokens));
  }
  if (options.files.empty()) {
    throw Error("FILE", std::nullopt, "missing", "at least one file of UTF-8 text");
  }
  return options;
}

}  // namespace tokkos::tools
