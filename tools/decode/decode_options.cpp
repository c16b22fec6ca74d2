// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/decode_options.hpp"

#include <tokkos/core/error.hpp>
#include <tokkos/core/penalty_policy.hpp>
#include <tokkos/kernels/top_log_probabilities.hpp>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace tokkos::tools {

namespace {

// What becomes FLT_MAX or the smallest float32 above 0 when it is narrowed, and nothing beyond.
constexpr double largest = 0x1.fffffefffffffp127;
constexpr double smallest_positive = 0x1.0000000000001p-150;

// The whole text as a number in decimal notation, or nothing.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T, class Accepts>
T accepted_number(const std::string& name, std::optional<std::int64_t> index,
                  const std::string& text, const char* expected, const Accepts& accepts) {
  const auto value = parse_number<T>(text);
  if (value && accepts(*value)) return *value;
  throw Error("--" + name, index, text.empty() ? "empty" : text, expected);
}

std::int32_t read_count(const OptionSet& given, const std::string& name, std::int32_t most) {
  const std::string range = "1 to " + std::to_string(most);
  return accepted_number<std::int32_t>(name, std::nullopt, *given.value(name), range.c_str(),
                                       [&](std::int32_t n) { return n >= 1 && n <= most; });
}

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> values(1);
  for (const char letter : list) {
    if (letter == ',') {
      values.emplace_back();
    } else {
      values.back() += letter;
    }
  }
  return values;
}

// Options of which each request has a value of its own, or all have the same.
class RequestValues {
 public:
  RequestValues(const OptionSet& given, DecodeOptions& options)
      : m_given(given), m_options(options) {}

  // Calls set(config, value) for every request, with the value that parse(index, text) made.
  template <class Parse, class Set>
  void each(const std::string& name, const Parse& parse, const Set& set) {
    const std::vector<std::string> texts = split_list(*m_given.value(name));
    note(name, texts);
    std::vector<decltype(parse(std::optional<std::int64_t>(), texts[0]))> values;
    for (const std::string& text : texts) {
      const std::optional<std::int64_t> index(static_cast<std::int64_t>(values.size()));
      values.push_back(parse(texts.size() > 1 ? index : std::nullopt, text));
    }
    for (std::size_t i = 0; i < m_options.configs.size(); ++i) {
      set(m_options.configs[i], values[i % values.size()]);
    }
  }

  template <class T, class Accepts>
  void number(const std::string& name, T GenerationConfig::*field, const char* expected,
              const Accepts& accepts) {
    const auto parse = [&](std::optional<std::int64_t> index, const std::string& text) {
      return accepted_number<T>(name, index, text, expected, accepts);
    };
    each(name, parse, [&](GenerationConfig& config, T value) { config.*field = value; });
  }

  void real(const std::string& name, float GenerationConfig::*field, double least, double most,
            const char* expected) {
    const auto parse = [&](std::optional<std::int64_t> index, const std::string& text) {
      return accepted_number<double>(name, index, text, expected,
                                     [&](double x) { return x >= least && x <= most; });
    };
    each(name, parse, [&](GenerationConfig& config, double value) {
      config.*field = static_cast<float>(value);
    });
  }

  // Keeps the values of an option that more than one was given for.
  void note(const std::string& name, const std::vector<std::string>& texts) {
    if (texts.size() > m_options.configs.size()) {
      throw Error("--" + name, std::nullopt, "a list of " + std::to_string(texts.size()),
                  "at most one value for each of --batch = " +
                      std::to_string(m_options.configs.size()) + " requests");
    }
    if (texts.size() > 1) m_options.mixed.push_back({name, texts});
  }

 private:
  const OptionSet& m_given;
  DecodeOptions& m_options;
};

PenaltyPolicy parse_policy(std::optional<std::int64_t> index, const std::string& name) {
  if (const auto policy = find_penalty_policy(name)) return *policy;
  throw Error("--policy", index, "\"" + name + "\"", "seed, openai, hugging_face or llama_cpp");
}

std::pair<std::string, double> parse_bias(const std::string& text, std::int64_t index) {
  const std::size_t equals = text.rfind('=');
  const bool has_word = equals != std::string::npos && equals > 0;
  const auto value = has_word ? parse_number<double>(text.substr(equals + 1)) : std::nullopt;
  if (!value || !(std::abs(*value) <= largest || *value == -INFINITY)) {
    throw Error("--bias", index, "\"" + text + "\"",
                "WORD=X with a number X from -3.4028235e+38 to 3.4028235e+38 (float32), or -inf");
  }
  return {text.substr(0, equals), *value};
}

void read_configs(const OptionSet& given, DecodeOptions& options) {
  using Config = GenerationConfig;
  constexpr const char* finite = "a number from -3.4028235e+38 to 3.4028235e+38 (float32)";
  options.configs.resize(static_cast<std::size_t>(options.batch));
  RequestValues values(given, options);
  values.real("temperature", &Config::temperature, 0.0, largest,
              "a number from 0 to 3.4028235e+38 (float32)");
  values.number("top-k", &Config::top_k, "an integer from 0 to 2147483647",
                [](std::int32_t k) { return k >= 0; });
  values.real("top-p", &Config::top_p, smallest_positive, 1.0,
              "a number from 1e-45 (the smallest float32 above 0) to 1");
  values.real("min-p", &Config::min_p, 0.0, 1.0, "a number from 0 to 1");
  values.real("presence-penalty", &Config::presence_penalty, -largest, largest, finite);
  values.real("frequency-penalty", &Config::frequency_penalty, -largest, largest, finite);
  values.real("repetition-penalty", &Config::repetition_penalty, smallest_positive, largest,
              "a number from 1e-45 (the smallest float32 above 0) to 3.4028235e+38");
  values.each("policy", parse_policy,
              [](Config& config, PenaltyPolicy policy) { config.penalty_policy = policy; });
  values.number("penalty-window", &Config::penalty_window, "an integer from -1 to 2147483647",
                [](std::int32_t length) { return length >= -1; });
  values.number("seed", &Config::seed, "an integer from 0 to 2^64 - 1",
                [](std::uint64_t) { return true; });

  options.prompts = given.values("prompt");
  values.note("prompt", options.prompts);
  if (options.prompts.empty()) options.prompts.emplace_back();
  options.constraints = given.values("constraint");
  values.note("constraint", options.constraints);
  for (const std::string& constraint : options.constraints) {
    if (constraint.empty()) throw Error("--constraint", std::nullopt, "empty", "a value");
  }
}

}  // namespace

DecodeOptions read_decode_options(const OptionSet& given) {
  DecodeOptions options;
  options.files = given.operands();
  options.batch = read_count(given, "batch", 1024);
  options.tree = parse_tree_shape(*given.value("tree"));
  options.max_tokens = read_count(given, "max-tokens", 1 << 24);
  read_configs(given, options);
  for (const std::string& bias : given.values("bias")) {
    options.word_bias.push_back(
        parse_bias(bias, static_cast<std::int64_t>(options.word_bias.size())));
  }
  if (given.has("text")) options.text_file = given.required("text");
  options.no_speculation = given.has("no-speculation");
  options.lm_head = given.has("lm-head");
  options.strict = given.has("strict");
  if (given.has("trace")) options.trace_file = given.required("trace");
  if (given.has("logprobs")) {
    options.most_likely = static_cast<std::int32_t>(
        parse_integer("--logprobs", *given.value("logprobs"), 0, max_top_tokens));
  }
  if (options.files.empty()) {
    throw Error("FILE", std::nullopt, "missing", "at least one file of UTF-8 text");
  }
  return options;
}

std::string mixed_parameters(const DecodeOptions& options, std::size_t request) {
  std::string text;
  for (const MixedOption& option : options.mixed) {
    if (!text.empty()) text += ", ";
    text += option.name + ' ' + option.values[request % option.values.size()];
  }
  return text;
}

}  // namespace tokkos::tools
